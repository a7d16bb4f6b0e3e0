"""Live objects: their model, types, references, run time and replicated state; no Qt, no
sockets."""
