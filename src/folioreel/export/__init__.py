"""Alignments as files for people and programs."""
