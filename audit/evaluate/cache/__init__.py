"""Answers of earlier runs: an unchanged object is not judged twice by the same rules in the same surroundings."""
