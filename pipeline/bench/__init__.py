"""What the jobs cost, beside others that do the same; each side is a process of its own."""
