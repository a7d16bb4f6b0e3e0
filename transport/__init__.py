"""The network in Python's hands: engines, groups, feeds, and a simulator with the same face.

`transport.interfaces` is what the layers above build on; README.md is the page to read first.
"""
