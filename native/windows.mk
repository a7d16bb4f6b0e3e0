# The engine for 64-bit Windows, cross-compiled, and its tests under wine. Included by Makefile,
# whose variables it uses.
#
# Needs gcc-mingw-w64-x86-64-win32 and wine; libsodium is built from its source package at first.

WINDOWS_CC     ?= x86_64-w64-mingw32-gcc
WINDOWS_AR     ?= x86_64-w64-mingw32-ar
WINE           ?= $(shell command -v wine || command -v wine64 || echo wine)
WINDOWS_BUILD  := $(BUILD)/windows
WINDOWS_SODIUM := $(abspath ../build/windows/libsodium)

WINDOWS_CFLAGS := -std=c17 -O2 -g $(WARNINGS) -Iinclude -Isrc -I$(WINDOWS_SODIUM)/include \
                  -DSODIUM_STATIC -D__USE_MINGW_ANSI_STDIO=1 -MMD -MP
WINDOWS_LIBS   := $(WINDOWS_SODIUM)/lib/libsodium.a -lws2_32 -liphlpapi -ladvapi32 -static-libgcc

# What each system alone has is guarded in its files, so that all of them can be compiled.
WINDOWS_SOURCES := $(sort $(shell find src -name '*.c' 2>/dev/null))
# Tests that are about processes of POSIX are not for here.
WINDOWS_TESTS ?= $(filter-out test_udp_peer,$(TESTS))

.PHONY: windows test-windows
windows: $(WINDOWS_BUILD)/libqsm.a $(WINDOWS_TESTS:%=$(WINDOWS_BUILD)/bin/%.exe)

$(WINDOWS_SODIUM)/lib/libsodium.a:
	$(QUIET)../installers/windows/build-libsodium.sh $(WINDOWS_SODIUM)

$(WINDOWS_BUILD)/%.o: %.c windows.mk | $(WINDOWS_SODIUM)/lib/libsodium.a
	@mkdir -p $(@D)
	@echo '  windows  $<'
	$(QUIET)$(WINDOWS_CC) $(WINDOWS_CFLAGS) -c $< -o $@

$(WINDOWS_BUILD)/libqsm.a: $(WINDOWS_SOURCES:%.c=$(WINDOWS_BUILD)/%.o)
	$(QUIET)rm -f $@
	$(QUIET)$(WINDOWS_AR) rcs $@ $^

# What the tests share; benchmarks and fuzzers are for POSIX.
WINDOWS_SUPPORT := $(filter tests/% tools/%,$(SUPPORT))
$(WINDOWS_BUILD)/libsupport.a: $(WINDOWS_SUPPORT:%.c=$(WINDOWS_BUILD)/%.o)
	$(QUIET)rm -f $@
	$(QUIET)$(WINDOWS_AR) rcs $@ $^

$(WINDOWS_BUILD)/bin/%.exe: $(WINDOWS_BUILD)/tests/%.o $(WINDOWS_BUILD)/libsupport.a \
                            $(WINDOWS_BUILD)/libqsm.a
	@mkdir -p $(@D)
	$(QUIET)$(WINDOWS_CC) $(LINK_$*) $^ -o $@ $(WINDOWS_LIBS)

# A prefix of its own: nothing of the user's wine is touched.
test-windows: export WINEPREFIX := $(abspath $(WINDOWS_BUILD))/wine
test-windows: export WINEDEBUG := -all
test-windows: $(WINDOWS_TESTS:%=$(WINDOWS_BUILD)/bin/%.exe)
	@command -v $(WINE) >/dev/null || \
	    { echo 'wine is missing; install it: apt-get install wine' >&2; exit 2; }
	$(call run_all,$^,$(WINE))
