"""The one part of the package build that pyproject.toml cannot say: the engine's C sources."""

from setuptools import setup

setup(cffi_modules=["native/build_engine.py:ffibuilder"])
