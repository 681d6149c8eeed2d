"""The local server of the page, and what readers judge on it."""
