"""Gatekeeper's suites, as ``gator verify`` reads them, asked through the project's own Gatekeeper rules and the embedded OPA."""
