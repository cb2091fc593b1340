"""Stage 1: what is out there becomes objects, gaps and notices."""
