"""The Go child: it reads manifests as Kubernetes reads them, and asks Rego rules with OPA itself.

Two modes, two processes, both without state of their own: work that a dead child loses is sent again.
"""
