"""The configuration file, the environment, and what they add up to."""
