# Everything one does with this repository; `make` alone lists it.
#
# A target asks for stamps: files that say when a step of the set-up was last done. A step is done again
# when something that it was made from has changed, so a second `make run` starts at once, off line.
# What the steps do is in installers/setup.sh.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# The steps follow one another; the C build inside them uses all cores by itself.
.NOTPARALLEL:

VENV   := .venv
PYTHON_IN_VENV := $(VENV)/bin/python
SETUP  := installers/setup.sh
# Spark's tests have a process of their own: its threads and ours do not share one.
PYTEST := $(PYTHON_IN_VENV) -m pytest
JOBS   := $(shell nproc 2>/dev/null || echo 2)
NATIVE := $(MAKE) --no-print-directory -C native -j$(JOBS)

# Seconds for each fuzzer.
TIME ?= 60
# The folder that `make check` looks at.
FOLDER ?=
# Arguments for the command: `make run ARGS="--theme dark note.liveobject"`, or for a first look
# `make bench ARGS="--seconds 0.3 --repeats 1 --share 0.1"`.
ARGS ?=
# Sizes at which the pipeline is measured; 100000000 as well needs some 10 GB of disk, and time.
PIPELINE_EVENTS ?= 1000000,10000000
# Where `make run` writes its picture when there is no display.
SCREENSHOT ?= build/screenshot.png
# Where `make screenshot` writes the pictures of the documentation.
PICTURES ?= assets/pictures

ENGINE_INPUTS := $(shell find native/src native/include -name '*.[ch]' 2>/dev/null) \
                 native/build_engine.py setup.py $(wildcard native/callbacks.cdef)
C_FILES := $(shell find native -name build -prune -o -name '*.[ch]' -print)

# Other systems that `make bench PEERS=1` measures, never a dependency of anything.
PEER_PACKAGES := cyclonedds eclipse-zenoh pyzmq
PEERS_DIR     := build/peers
BENCH_RESULTS := build/bench.jsonl

FUZZERS := $(basename $(notdir $(wildcard native/fuzz/fuzz_*.c)))
PYTHON_FUZZERS := $(notdir $(wildcard tests/fuzz/corpus/*))

STAMP_PACKAGES := $(VENV)/.stamp-packages
STAMP_PYTHON   := $(VENV)/.stamp-python
STAMP_ENGINE   := $(VENV)/.stamp-engine
STAMP_PIPELINE := $(VENV)/.stamp-pipeline

.PHONY: help run screenshot test check lint format languages bench planted soak swarm hostile disk-faults fuzz clean distclean

help:
	@echo 'make run         set up what is missing and start the application; without a display'
	@echo '                 write a picture of it to $(SCREENSHOT)'
	@echo 'make test        set up what is missing and run all tests, C and Python'
	@echo 'make check       check format, lint and types, and run the tests of one folder: FOLDER=liveobj/storage'
	@echo 'make screenshot  take the pictures of the documentation again, into $(PICTURES)'
	@echo 'make lint        check formatting, lint and types'
	@echo 'make format      format Python and C'
	@echo 'make languages   gather the words that are shown into the catalogues, and compile those'
	@echo 'make bench       run the benchmarks: an idle program, the engine, Python callbacks; with PEERS=1'
	@echo '                 also other systems, installed for it alone'
	@echo 'make swarm       random storms on simulated nodes for TIME=$(TIME) seconds; prints how to replay'
	@echo 'make soak        drive five real programs wildly for TIME=$(TIME) seconds, then compare all they hold'
	@echo 'make planted     plant known bugs in the engine and let the swarm look, TIME=$(TIME) seconds each'
	@echo 'make hostile     changed bits, replays, strangers and hostile members, in full; some minutes'
	@echo 'make disk-faults every call to the disk fails in turn: nothing that was saved may be lost; some minutes'
	@echo 'make fuzz        run every fuzzer for TIME=$(TIME) seconds'
	@echo 'make clean       remove what was built'
	@echo 'make distclean   remove also the virtual environment'

run: $(STAMP_ENGINE)
	@if [ -n "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ]; then \
	    exec $(VENV)/bin/live-objects $(ARGS); \
	else \
	    echo 'There is no display here (DISPLAY and WAYLAND_DISPLAY are unset): starting a virtual one.'; \
	    mkdir -p $(dir $(SCREENSHOT)); \
	    $(PYTHON_IN_VENV) installers/virtual_display.py \
	        $(VENV)/bin/live-objects --screenshot $(SCREENSHOT) $(ARGS); \
	    echo 'A picture of what the application shows is in $(SCREENSHOT)'; \
	fi

# Two real programs write one note together, light and dark; a newcomer's first page; every kind.
screenshot: $(STAMP_ENGINE)
	@$(PYTHON_IN_VENV) installers/virtual_display.py $(PYTHON_IN_VENV) -m app.pictures $(PICTURES)
	@ls $(PICTURES)/*.png

test: $(STAMP_ENGINE) $(STAMP_PIPELINE)
	@echo '-- C tests, with address and undefined-behaviour sanitizers'
	@$(NATIVE) test
ifneq ($(strip $(ARGS)),)
	@echo '-- Python tests: $(ARGS)'
	@$(PYTEST) $(ARGS)
else
	@echo '-- Python tests, in three processes: each mostly waits for others, so two cores are enough'
	@mkdir -p build; result=0; \
	{ $(PYTEST) tests/liveobj tests/widgets && $(PYTEST) tests/pipeline; } >build/tests-objects.log 2>&1 & objects=$$!; \
	$(PYTEST) tests/transport tests/native >build/tests-network.log 2>&1 & network=$$!; \
	$(PYTEST) $(addprefix --ignore tests/,liveobj widgets pipeline transport native) || result=$$?; \
	wait $$network || result=$$?; cat build/tests-network.log; \
	wait $$objects || result=$$?; cat build/tests-objects.log; exit $$result
endif

# What a developer wants to know of the folder at hand, without waiting for the rest.
check: $(STAMP_ENGINE)
	@test -d "$(FOLDER)" || { echo 'make check needs a folder, such as FOLDER=liveobj/storage' >&2; exit 2; }
	@$(VENV)/bin/ruff format --check $(FOLDER)
	@$(VENV)/bin/ruff check $(FOLDER)
	@$(VENV)/bin/mypy
	@$(PYTEST) -q -x tests/test_tidy.py tests/test_imports.py
	@if [ -d tests/$(FOLDER) ]; then $(PYTEST) -q -x tests/$(FOLDER); fi
ifneq ($(filter native native/%,$(FOLDER)),)
	@$(NATIVE) test
endif

lint: $(STAMP_ENGINE) $(STAMP_PIPELINE)
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/mypy installers/virtual_display.py installers/languages.py
	@echo clang-format --dry-run -Werror: $(words $(C_FILES)) files
	@$(if $(C_FILES),$(VENV)/bin/clang-format --dry-run -Werror $(C_FILES))

format: $(STAMP_PYTHON)
	$(VENV)/bin/ruff check --fix-only --quiet .
	$(VENV)/bin/ruff format .
	@$(if $(C_FILES),$(VENV)/bin/clang-format -i $(C_FILES))

# What is shown is gathered from the source into the catalogues, which people fill, and compiled.
languages: $(STAMP_PYTHON)
	@$(PYTHON_IN_VENV) installers/languages.py

# With PEERS=1 other systems are measured too; they are put into a folder of the benchmark's own. What
# goes wrong in one part does not keep the others from being measured; it is named at the end.
bench: $(STAMP_ENGINE) $(STAMP_PIPELINE)
	@failed=; part() { \
	    name=$$1; echo "-- $$name: $$2"; shift 2; "$$@" || failed="$$failed $$name"; \
	}; \
	$(if $(filter 1,$(PEERS)),part peers 'other systems into $(PEERS_DIR)' \
	    $(PYTHON_IN_VENV) -m pip install --quiet --upgrade --target $(PEERS_DIR) $(PEER_PACKAGES);) \
	part desktop 'what a person feels, with real programs' \
	    $(PYTHON_IN_VENV) installers/virtual_display.py $(VENV)/bin/live-objects bench desktop $(ARGS); \
	part canvas 'panning over a desktop with 10,000 objects' \
	    $(PYTHON_IN_VENV) installers/virtual_display.py $(PYTHON_IN_VENV) -m app.canvas_bench; \
	part engine 'beside bare sockets and the systems that are installed in $(PEERS_DIR)' \
	    $(VENV)/bin/live-objects bench all --output $(BENCH_RESULTS) $(ARGS); \
	echo 'The same figures, with machine, versions and date, are in $(BENCH_RESULTS)'; \
	part pipeline 'event logs on Spark, beside DuckDB and plain Python; plans of regions' \
	    $(VENV)/bin/live-objects pipeline bench --events $(PIPELINE_EVENTS); \
	if [ -n "$$failed" ]; then \
	    echo "Something could not be measured in:$$failed" >&2; exit 1; \
	fi

# Plants twenty known bugs one at a time; the swarm must find at least nineteen.
planted: $(STAMP_PACKAGES)
	@$(PYTHON_IN_VENV) native/tools/planted.py --seconds $(TIME)

# Five programs with windows, real processes on this PC: edits, kills, freezes, cuts; then compared.
soak: $(STAMP_ENGINE)
	@$(PYTHON_IN_VENV) -m app.soak --seconds $(TIME) $(ARGS)

swarm: $(STAMP_ENGINE)
	@$(NATIVE) swarm
	@native/build/tools/swarm --seconds $(TIME) --keep-going --brief
	@native/build/tools/swarm --seconds $$(($(TIME) / 4)) --keep-going --brief --also hush
	@$(PYTHON_IN_VENV) -m tests.liveobj.channels.member_storm --seconds $$(($(TIME) / 4))

# Changed bits, replays, strangers and hostile members in the amounts that the goals name.
hostile: $(STAMP_PACKAGES)
	@$(NATIVE) build/plain/bin/test_hostile build/plain/bin/test_hostile_member
	@native/build/plain/bin/test_hostile --full
	@native/build/plain/bin/test_hostile_member --full

# Full disks, I/O errors, kills: at every call of every operation; then what was acknowledged is looked for.
disk-faults: $(STAMP_ENGINE)
	@$(PYTHON_IN_VENV) -m tests.liveobj.storage.disk_faults $(ARGS)

# The seed corpus is copied, so that what a run adds is looked at before it becomes part of the seeds.
fuzz: $(STAMP_ENGINE)
	@$(SETUP) fuzzer
	@$(NATIVE) fuzz
	@mkdir -p build/fuzz
	@fuzz() { \
	    name=$$1; seeds=$$2; shift 2; corpus=$$(mktemp -d); result=0; \
	    if [ -d "$$seeds" ]; then cp -r "$$seeds/." "$$corpus"; fi; \
	    echo "-- $$name for $(TIME) s"; \
	    "$$@" -max_total_time=$(TIME) -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix="build/fuzz/$$name-" "$$corpus" || result=$$?; \
	    rm -rf "$$corpus"; \
	    if [ $$result -ne 0 ]; then echo "$$name found something; its input is in build/fuzz" >&2; exit 1; fi; \
	}; \
	for name in $(FUZZERS); do fuzz $$name native/fuzz/corpus/$${name#fuzz_} native/build/fuzz/bin/$$name; done; \
	for name in $(PYTHON_FUZZERS); do \
	    fuzz $$name tests/fuzz/corpus/$$name $(PYTHON_IN_VENV) -m tests.fuzz.run $$name; \
	done

clean:
	@$(MAKE) --no-print-directory -C native clean
	rm -rf build live_objects.egg-info native/_engine*.so $(STAMP_ENGINE)
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

$(STAMP_PACKAGES): installers/debian-packages.txt
	@$(SETUP) packages build runtime screen test
	@mkdir -p $(@D) && touch $@

$(STAMP_PYTHON): $(STAMP_PACKAGES) pyproject.toml setup.py
	@$(SETUP) python
	@touch $@

# The application does without: `make run` neither asks for Java nor for Spark.
$(STAMP_PIPELINE): $(STAMP_PYTHON)
	@$(SETUP) pipeline
	@touch $@

$(STAMP_ENGINE): $(STAMP_PYTHON) $(ENGINE_INPUTS)
	@$(SETUP) engine
	@touch $@
