"""Finds the sample of a kind: the file in this folder that is called as the kind's word.

It is imported on demand, as commands are, so the program starts without samples. A compiled build
includes the package `app` whole for the sake of both.
"""

from __future__ import annotations

from importlib import import_module

from app.samples.sample import Sample


def module_of(word: str) -> str:
    """The name of the module that holds the sample of a kind."""
    return f"app.samples.{word.replace('-', '_')}"


def sample_of(word: str) -> Sample:
    """Raises LookupError, with a sentence, if there is none."""
    name = module_of(word)
    try:
        module = import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name != name:
            raise
        module = None
    sample = getattr(module, "SAMPLE", None)
    if not isinstance(sample, Sample):
        file = f"{name.replace('.', '/')}.py"
        raise LookupError(f"The kind '{word}' has no sample: write SAMPLE = Sample(…) in {file}.")
    return sample
