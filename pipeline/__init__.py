"""Jobs on event logs, run by `live-objects pipeline …` in a process of its own."""
