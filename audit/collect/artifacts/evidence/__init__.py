"""Results of other tools as facts for rules: Scorecard, TestGrid, XCCDF, kube-bench, Trivy, SARIF, OpenVEX."""
