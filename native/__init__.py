"""The engine, compiled: `lib` holds the functions of include/qsm.h, `ffi` makes and reads C values.

Only the transport layer imports this; everybody else uses what transport offers.
"""

from native._engine import ffi, lib

__all__ = ["ffi", "lib"]
