"""Two results of the same fleet: what is new, what was fixed, and what is merely no longer seen. Pure."""
