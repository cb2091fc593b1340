"""Stage 7: what is kept of a run: pairs, findings, digests."""
