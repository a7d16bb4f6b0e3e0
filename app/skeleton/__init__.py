"""A new kind of object for developers: files made from templates, and the lines that register them.

Only a checkout has the templates; they are no part of what is installed.
"""
