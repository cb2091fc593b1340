"""Are the policies the same everywhere? Pure: objects come in as they pass, a comparison goes out."""
