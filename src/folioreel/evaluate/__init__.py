"""Judged pairs and how good an alignment of them is."""
