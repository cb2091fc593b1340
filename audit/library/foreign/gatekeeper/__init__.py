"""Gatekeeper: ConstraintTemplates and Constraints, read as Gatekeeper reads them."""
