"""The reports as a dlt source. The state of its resource says which version of each day was loaded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Any, TypedDict

import dlt
import pyarrow as pa
from dlt.extract import DltSource
from pyarrow import csv

from .service import Day, DayReport, Service, ServiceError

KEY = "Day"
"""The field by which rows are replaced: a load replaces all rows of a day."""

VERSION_COLUMN = "_data_version"
DELETED_COLUMN = "_deleted"
LOAD_COLUMN = "_dlt_load_id"

ARROW_TYPES: dict[str, pa.DataType] = {
    "datetime": pa.timestamp("us", tz="UTC"),
    "integer": pa.int64(),
    "float": pa.decimal128(38, 6),
    "string": pa.string(),
}
BLOCK_BYTES = 16 << 20


class Held(TypedDict):
    """What was loaded of a day. `version` is None if the day may have changed while it was read, or if the table keeps
    an older version of the day.
    """

    version: str | None
    rows: int
    load: str


TableDays = Mapping[str, tuple[int, str]]
"""What the destination table holds for each day: the number of rows, and their load id ('' if they have different
ones).
"""


@dataclass
class Outcome:
    """What a run found and did."""

    days: int = 0
    pulled: int = 0
    removed: int = 0
    bytes: int = 0
    is_other_query: bool = False
    """Whether the query differs from the last run's. If so, every day is pulled again."""
    unsure: list[str] = field(default_factory=list[str])
    """Days that may have changed while they were pulled. The next run pulls them again."""


def performance_reports(
    report: str,
    fields: Sequence[str],
    start: date,
    end: date | None = None,
    *,
    filters: Mapping[str, Sequence[str]] | None = None,
    only_final: bool = False,
    again: bool = False,
    table: str | None = None,
    service: Service | None = None,
    in_table: TableDays | None = None,
    outcome: Outcome | None = None,
) -> DltSource:
    """A dlt source of one report, from the day `start` to the day before `end`. By default, `end` is tomorrow.

    `again` pulls all of these days, even days that have not changed. Prefer `sync`: it removes what a killed run has
    left, and compares the table with the state (`in_table`).
    """
    if KEY not in fields:
        raise ServiceError(
            f"Add {KEY} to the fields: rows of a day that was restated are replaced by it. "
            f"Asked for: {', '.join(fields)}."
        )
    name = table or report
    until = end or datetime.now(timezone.utc).date() + timedelta(days=1)
    told = outcome or Outcome()
    chosen = {field: sorted(values) for field, values in sorted((filters or {}).items())}
    query: dict[str, Any] = {
        "report": report, "fields": list(fields), "filters": chosen, "only_final": only_final
    }  # fmt: skip
    parameters: dict[str, str | Sequence[str]] = {"requestedFields": ",".join(fields)}
    parameters.update({f"filter[{field}]": values for field, values in chosen.items()})

    def rows() -> Iterator[pa.Table]:
        asked = service or Service.from_environment()
        schema = _schema_of(report, fields, asked.fields(report))
        listed = {day.day: day for day in asked.days(report, start, until)}
        load = dlt.current.load_package_state().get("load_id", "")
        state: dict[str, Any] = dlt.current.resource_state()
        # The rows of a report depend on the client. The data version does not, so the client is part of the query.
        whole_query = {**query, "service": asked.api_url, "client": asked.client_id}
        before: dict[str, Held] = state.get("days", {})
        told.is_other_query = bool(before) and state.get("query") != whole_query
        told.days = len(listed)

        def in_range(day: str) -> bool:
            return start.isoformat() <= day < until.isoformat()

        there = {day: (held["rows"], held["load"]) for day, held in before.items() if held["rows"]}
        if in_table is not None:
            there = dict(in_table)
        # A killed run may have left rows that the state does not know. Days with such rows count as not loaded.
        intact = {
            day: held
            for day, held in before.items()
            if not told.is_other_query
            and not (again and in_range(day))
            and there.get(day, (0, held["load"])) == (held["rows"], held["load"])
        }
        after = {day: held for day, held in intact.items() if day in listed or not in_range(day)}
        if not told.is_other_query:
            # If the rows of a day outside the range differ from the state, the day is pulled again. If the service does
            # not list the day, its rows are removed.
            unknown = {day for day in {*there, *before} if day not in intact and not in_range(day)}
            listed.update(_days_among(asked, report, unknown))

        def keep(day: str) -> None:
            """Keeps the rows of a day that is not final now. They belong to the day's last final version."""
            rows, load = there.get(day, (0, ""))
            if day not in after and rows > 0 and load and not told.is_other_query:
                after[day] = {"version": None, "rows": rows, "load": load}

        for day, entry in sorted(listed.items()):
            if day in intact and intact[day]["version"] == entry.version:
                continue
            if only_final and not entry.is_final:
                keep(day)
                continue
            pulled = asked.pull(report, parameters, entry)
            with pulled.csv:
                told.pulled += 1
                told.bytes += pulled.size
                if pulled.version is None:
                    told.unsure.append(day)
                if only_final and not _is_final(asked, report, entry, pulled):
                    if pulled.version is not None:
                        told.unsure.append(day)
                    keep(day)
                    continue
                count = 0
                for batch in _batches(pulled, day, schema):
                    count += batch.num_rows
                    yield _table(schema, batch.columns, pulled.version, None, load)
            after[day] = {"version": pulled.version, "rows": count, "load": load}

        for day in sorted(there):
            # Removes the rows of days without events, of days whose report is now empty, and of days that only an
            # earlier run with another query has pulled.
            if after.get(day, {"rows": 0})["rows"] == 0:
                told.removed += 1
                midnight = datetime.fromisoformat(f"{day}T00:00:00+00:00")
                row = [pa.array([midnight if column.name == KEY else None], column.type) for column in schema]
                yield _table(schema, row, None, True, load)

        state["query"] = whole_query
        state["days"] = after

    @dlt.source(name="performance_reports")
    def source() -> Any:
        return dlt.resource(
            rows,
            name=name,
            write_disposition={"disposition": "merge", "strategy": "delete-insert"},
            merge_key=KEY,
            columns={DELETED_COLUMN: {"hard_delete": True, "data_type": "bool"}},
        )

    return source()


def _schema_of(report: str, fields: Sequence[str], catalogue: Mapping[str, str]) -> pa.Schema:
    unknown = [name for name in fields if name not in catalogue]
    if unknown:
        raise ServiceError(f"{report} has no field {', '.join(unknown)}. It has: {', '.join(catalogue)}.")
    types = [ARROW_TYPES.get(catalogue[name], pa.string()) for name in fields]
    return pa.schema([pa.field(name, of, nullable=name != KEY) for name, of in zip(fields, types, strict=True)])


def _days_among(service: Service, report: str, days: set[str]) -> dict[str, Day]:
    if not days:
        return {}
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    return {day.day: day for day in service.days(report, first, last + timedelta(days=1)) if day.day in days}


def _is_final(service: Service, report: str, listed: Day, pulled: DayReport) -> bool:
    """Whether the pulled version is final. If it is not the listed version, the service is asked for the day's state
    again.
    """
    if pulled.version == listed.version:
        return True
    start = date.fromisoformat(listed.day)
    again = service.days(report, start, start + timedelta(days=1))
    return any(day.is_final and day.version == pulled.version for day in again)


def _batches(pulled: DayReport, day: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    reader = csv.open_csv(
        pulled.csv,
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        # An unquoted empty field is null; "" is an empty string.
        convert_options=csv.ConvertOptions(
            column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    if reader.schema.names != schema.names:
        raise ServiceError(f"The report of {day} has the columns {', '.join(reader.schema.names)}.")
    for batch in reader:
        days = {str(moment)[:10] for moment in batch[KEY].unique().to_pylist()}
        if not days <= {day}:
            raise ServiceError(f"The report of {day} has rows of {', '.join(sorted(days))}.")
        if batch.num_rows > 0:
            yield batch


def _table(
    schema: pa.Schema, columns: Sequence[pa.Array], version: str | None, is_deleted: bool | None, load: str
) -> pa.Table:
    """A table of these rows, with the connector's own columns added."""
    own: list[tuple[str, pa.DataType, str | bool | None]] = [
        (VERSION_COLUMN, pa.string(), version),
        (DELETED_COLUMN, pa.bool_(), is_deleted),
        (LOAD_COLUMN, pa.string(), load),
    ]
    for name, of, value in own:
        schema = schema.append(pa.field(name, of))
        columns = [*columns, pa.array([value] * len(columns[0]), of)]
    return pa.Table.from_arrays(columns, schema=schema)
