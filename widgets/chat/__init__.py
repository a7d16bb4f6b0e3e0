"""The view of a chat."""
