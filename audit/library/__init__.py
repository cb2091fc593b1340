"""Authored content, loaded whole and checked: rules, catalogs, mappings, checks, waivers, statements."""
