from audit.api import audit_fleet as audit_fleet
from audit.api import write_reports as write_reports
from audit.errors import AuditError as AuditError
from audit.model.result import AssessmentResult as AssessmentResult

__version__: str
