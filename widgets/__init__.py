"""Views of live objects and the parts of the window; each shows one model and writes by intents."""
