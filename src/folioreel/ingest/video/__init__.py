"""Videos → shots, frames and text tracks."""
