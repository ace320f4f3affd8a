"""Performance reports as a dlt source: only the days that changed, each replaced whole."""

from .service import Service, ServiceError, ServiceProblem
from .source import Outcome, performance_reports
from .sync import SyncError, sync

__all__ = ["Outcome", "Service", "ServiceError", "ServiceProblem", "SyncError", "performance_reports", "sync"]
