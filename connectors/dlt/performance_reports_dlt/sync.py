"""Brings a table up to date, whatever earlier runs left behind."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timezone
from typing import Any, cast

import dlt
from dlt.common.destination import TDestinationReferenceArg
from dlt.common.pipeline import get_dlt_pipelines_dir
from dlt.destinations.exceptions import DatabaseUndefinedRelation, DestinationConnectionError
from dlt.pipeline.exceptions import PipelineStepFailed

from .service import Service, shown
from .source import KEY, LOAD_COLUMN, Outcome, TableDays, performance_reports


class SyncError(Exception):
    """The destination can't be used, or another run of the pipeline is under way. The message says what to do."""


def sync(
    report: str,
    fields: Sequence[str],
    start: date,
    end: date | None = None,
    *,
    filters: Mapping[str, Sequence[str]] | None = None,
    only_final: bool = False,
    again: bool = False,
    destination: TDestinationReferenceArg | None = None,
    dataset: str = "performance_reports",
    table: str | None = None,
    pipeline_name: str = "performance_reports",
    service: Service | None = None,
) -> Outcome:
    """Brings a table up to date: pulls the changed days, from the day `start` to the day before `end`.

    By default, `end` is tomorrow, and the table is in the file reports.duckdb.

    First, the pipeline's working folder is deleted, and its state is read back from the destination. Otherwise dlt
    would load what a killed run has left in the folder, and might load it twice.
    """
    with _alone(pipeline_name) as folder:
        if os.path.isdir(folder):
            shutil.rmtree(folder)
        pipeline = dlt.pipeline(
            pipeline_name,
            os.path.dirname(folder),
            destination=destination or dlt.destinations.duckdb("reports.duckdb"),
            dataset_name=dataset,
        )
        _refuse_without_delete_insert(pipeline)
        _restore(pipeline)
        outcome = Outcome()
        in_table = _days_in(pipeline, table or report)
        # If somebody has dropped the table, dlt does not create it again, because dlt trusts its stored schema. A
        # refresh makes dlt create the table.
        is_dropped = in_table is None and _has_loaded_rows(pipeline, table or report)
        loaded = pipeline.run(
            performance_reports(
                report,
                fields,
                start,
                end,
                filters=filters,
                only_final=only_final,
                again=again,
                table=table,
                service=service,
                in_table=in_table or {},
                outcome=outcome,
            ),
            refresh=cast(Any, "drop_resources" if is_dropped else None),
        )
        loaded.raise_on_failed_jobs()
    return outcome


@contextmanager
def _alone(pipeline_name: str) -> Iterator[str]:
    """Locks the pipeline's working folder for this run and yields its path. The operating system releases the lock
    when the process ends, even if it is killed.
    """
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", pipeline_name):
        raise SyncError(f'The pipeline\'s name "{pipeline_name}" must be of letters, digits, _ and -.')
    pipelines = get_dlt_pipelines_dir()
    os.makedirs(pipelines, exist_ok=True)
    with open(os.path.join(pipelines, f"{pipeline_name}.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SyncError(
                f"Another run of the pipeline {pipeline_name} is under way. Run again when it has ended."
            ) from None
        yield os.path.join(pipelines, pipeline_name)


def _refuse_without_delete_insert(pipeline: dlt.Pipeline) -> None:
    destination = pipeline.destination
    able = destination.capabilities()
    has_transactions = able.supports_ddl_transactions or able.supports_transactions
    if "delete-insert" not in (able.supported_merge_strategies or []) or not has_transactions:
        raise SyncError(
            f"{destination.destination_name} can't replace the rows of a day: dlt would add to them, or leave "
            "them half replaced. Use duckdb, or docs/programs/incremental_pull.py, which keeps a folder of one file a day."
        )


def _restore(pipeline: dlt.Pipeline) -> None:
    """Reads the state back from the destination."""
    try:
        pipeline.sync_destination()
    except PipelineStepFailed as failed:
        if isinstance(failed.exception, DestinationConnectionError):
            raise SyncError(
                f"{pipeline.dataset_name} can't be opened: {shown(failed.exception.inner_exc)}. "
                "Close other programs that have it open, or mend its credentials."
            ) from failed
        raise


def _has_loaded_rows(pipeline: dlt.Pipeline, table: str) -> bool:
    sources: dict[str, Any] = pipeline.state.get("sources", {})
    resource = sources.get("performance_reports", {}).get("resources", {}).get(table, {})
    return any(held["rows"] > 0 for held in resource.get("days", {}).values())


def _days_in(pipeline: dlt.Pipeline, table: str) -> TableDays | None:
    """What the table holds for each day, including rows of an incomplete load. None if the table does not exist."""
    with pipeline.sql_client() as client:
        name = client.make_qualified_table_name(pipeline.naming.normalize_table_identifier(table))
        key = client.escape_column_name(pipeline.naming.normalize_identifier(KEY))
        load = client.escape_column_name(LOAD_COLUMN)
        sql = f"SELECT {key}, COUNT(*), MIN({load}), MAX({load}) FROM {name} GROUP BY {key}"
        try:
            rows = client.execute_sql(sql) or []
        except DatabaseUndefinedRelation:
            return None
    return {_day_of(day): (count, first if first == last else "") for day, count, first, last in rows if day}


def _day_of(moment: datetime) -> str:
    return (moment.astimezone(timezone.utc) if moment.tzinfo else moment).date().isoformat()
