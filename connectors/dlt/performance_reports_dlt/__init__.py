"""A dlt source of performance reports. It pulls only the days that changed, and replaces each of them as a whole."""

from .service import Service, ServiceError, ServiceProblem
from .source import Outcome, performance_reports
from .sync import SyncError, sync

__all__ = ["Outcome", "Service", "ServiceError", "ServiceProblem", "SyncError", "performance_reports", "sync"]
