"""What the network did, from the logs of those who took part."""
