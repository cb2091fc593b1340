"""Kyverno's suites, run by the real Kyverno CLI; its rows are read with its ways of saying nothing in mind."""
