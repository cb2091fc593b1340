"""A real OPA server as an engine: the second adapter of the Rego port, equal in its findings to the embedded OPA."""
