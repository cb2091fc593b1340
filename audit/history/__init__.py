"""The history: finished results in a database, chained by digests, and what is read out of it again."""
