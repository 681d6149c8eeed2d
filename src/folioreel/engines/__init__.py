"""Many pieces of independent work, over the cores of this machine or over a Ray cluster."""
