"""Measures between moments and sentences, in blocks of rows."""
