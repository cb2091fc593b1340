"""Software bills of materials: SPDX and CycloneDX as facts for rules."""
