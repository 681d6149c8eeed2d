"""Files → books and films."""
