"""The Go child: reading manifests and evaluating Rego."""
