"""Stage 2: documents become subjects. Pure."""
