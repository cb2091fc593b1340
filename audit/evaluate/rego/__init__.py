"""The embedded OPA as an engine."""
