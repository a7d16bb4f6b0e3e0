"""Small programs that show how the layers are used. Not part of what is installed."""
