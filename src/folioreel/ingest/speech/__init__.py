"""Speech recognition: the sound of a film → spoken sentences."""
