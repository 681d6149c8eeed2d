"""Many books as one: built, read, counted, packed for training."""
