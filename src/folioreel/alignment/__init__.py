"""Files → scores → positions or chain → links."""
