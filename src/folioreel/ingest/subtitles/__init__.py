"""Subtitle formats → spoken sentences."""
