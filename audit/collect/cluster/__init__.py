"""A running cluster, read through its API server. Nothing here writes: every request is a GET."""
