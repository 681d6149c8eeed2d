"""Trained parts as users run them, without PyTorch."""
