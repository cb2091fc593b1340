"""Signatures: Sigstore bundles, keyed signatures, signed images and provenance, all verified from disk.

Nothing here imports `cryptography` or `sigstore` before a signature is met.
"""
