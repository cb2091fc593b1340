"""The reader's own facts as an engine."""
