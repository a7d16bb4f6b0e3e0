"""The application: it wires engine, objects and widgets together and gives them one event loop."""
