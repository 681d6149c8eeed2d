"""The local server of the page, and the judgements that readers make on it."""
