"""Evidence that is no Kubernetes object: SBOMs, signatures, provenance, models, other tools' results.

A reader turns one file (or folder) into documents that state facts: what was read, what was checked, what could not be. The
documents are judged by rules like any other object, so every verdict about an artifact has its rule, its place and its pair.
"""
