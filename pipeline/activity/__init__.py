"""What people do with objects, for those who agreed to it; what goes together; what can shrink."""
