"""The nouns of an audit: frozen, complete at birth, no behaviour that touches the world."""
