"""What people do with an alignment."""
