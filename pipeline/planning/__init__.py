"""Where regions should be: from who had what open and how much went through it."""
