"""The networks in PyTorch, one file each, and how they are fitted."""
