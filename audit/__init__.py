"""fleetaudit: policy and compliance audits of large-model Kubernetes fleets, with a proven denominator."""

__version__ = "0.1.0"
