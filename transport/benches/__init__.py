"""Benchmarks: one experiment a file, each a generator of records; `live-objects bench` runs them.

The C programs of native/bench measure the engine and bare sockets; the files here say what is run
beside what, take medians, and compare. Nothing in the product imports this package.
"""
