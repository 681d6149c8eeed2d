"""Scores → chain → links."""
