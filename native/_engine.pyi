"""Types of the extension that build_engine.py compiles."""

from typing import Any

from _cffi_backend import FFI

ffi: FFI
lib: Any
