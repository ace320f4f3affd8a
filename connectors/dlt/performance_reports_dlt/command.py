"""performance-reports-sync: keeps a table of a report up to date."""

import argparse
import os
import re
import sys
from datetime import date
from pathlib import Path

# By default, dlt sends telemetry about each run to its makers. To allow that, set this variable to true.
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")
# The command prints its own error in one line at the end, so dlt's log is silenced.
os.environ.setdefault("RUNTIME__LOG_LEVEL", "CRITICAL")

import dlt  # noqa: E402
from dlt.pipeline.exceptions import PipelineStepFailed  # noqa: E402

from .service import ServiceError, shown  # noqa: E402
from .sync import SyncError, sync  # noqa: E402

DESCRIPTION = """Keeps a table equal to a report: pulls the days that are new or have changed, and no others.
The service and the credentials come from the environment: API_URL, TOKEN_URL, CLIENT_ID, CLIENT_SECRET, SCOPE."""


def main() -> None:
    asked = _arguments()
    filters: dict[str, list[str]] = {}
    for entry in asked.filter:
        name, separator, value = entry.partition("=")
        if not separator:
            sys.exit(f'--filter {entry}: write it as FIELD=VALUE, such as "DeviceOrProxy=Mobile".')
        filters.setdefault(name, []).append(value)
    if asked.destination == "duckdb" and Path(asked.database).stem.lower() == asked.dataset.lower():
        sys.exit(f"DuckDB can't tell {asked.database} from --dataset {asked.dataset}: give the file another name.")
    try:
        outcome = sync(
            asked.report,
            asked.fields.split(","),
            asked.start,
            asked.end,
            filters=filters,
            only_final=asked.only_final,
            again=asked.again,
            destination=dlt.destinations.duckdb(asked.database) if asked.destination == "duckdb" else asked.destination,
            dataset=asked.dataset,
            table=asked.table,
            pipeline_name=asked.pipeline,
        )
    except Exception as error:
        # dlt wraps an error of the source in its own errors.
        cause: BaseException | None = error
        while cause and not isinstance(cause, (ServiceError, SyncError)):
            cause = cause.__cause__
        if cause:
            sys.exit(str(cause))
        inner = error.exception if isinstance(error, PipelineStepFailed) else error
        line = shown((str(inner).strip().splitlines() or [type(inner).__name__])[0])
        sys.exit(f"The load failed: {line}. Nothing is lost: mend it and run again.")

    if outcome.is_other_query:
        print("Other fields, filters or client than last time: everything is pulled again.")
    print(
        f"{outcome.days} days, {outcome.pulled} of them pulled, {outcome.removed} removed, {outcome.bytes} bytes"
    )
    if outcome.unsure:
        sys.exit(f"Changed while they were pulled; run again: {', '.join(outcome.unsure)}")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        fault = "does not exist" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else "is no day of the form 2026-01-01"
        raise argparse.ArgumentTypeError(f"{text} {fault}") from None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="performance-reports-sync",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("report", help="publisherperformance or advertiserperformance")
    add("--fields", required=True, help="names of fields, commas between; Day must be among them")
    add("--start", required=True, type=_day, help="first day, 2026-01-01")
    add("--end", type=_day, help="the day after the last; tomorrow (UTC) if left out")
    add("--filter", action="append", default=[], metavar="FIELD=VALUE", help="may be repeated")
    add("--only-final", action="store_true", help="leave out days that are not complete")
    add("--again", action="store_true", help="pull all days of the range, changed or not: for other companies' rows")
    add("--destination", default="duckdb", help="of dlt; duckdb if left out")
    add("--database", default="reports.duckdb", help="the file of duckdb; reports.duckdb if left out")
    add("--dataset", default="performance_reports", help="the schema of the table; performance_reports if left out")
    add("--table", help="the report's name if left out; two queries of a report need a table each")
    add("--pipeline", default="performance_reports", help="the name that dlt keeps the state under")
    asked = parser.parse_args()
    if asked.end and asked.end <= asked.start:
        parser.error("--end must be later than --start: it is the day after the last")
    return asked
