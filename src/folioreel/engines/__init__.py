"""Many independent tasks, on the cores of this machine or on a Ray cluster."""
