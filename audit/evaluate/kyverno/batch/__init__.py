"""Kyverno's own engine in a child process that compiles policies once, with the Kyverno CLI as its reference."""
