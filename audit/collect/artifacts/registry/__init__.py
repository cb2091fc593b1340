"""Images where they are kept: what it takes to verify them is asked of registries that the configuration names, and nothing else."""
