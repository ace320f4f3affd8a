"""Writes Parquet files of every type that pyarrow has, and files in the formats that a lake's commands judge."""

import sys
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

HOME = Path(sys.argv[1])
NOON = datetime(2026, 1, 31, 12)

# Each type with three values. Where a type can't hold a value of a role, the value is whatever it can hold.
TYPES = {
    "bool": (pa.bool_(), [True, False, True]),
    **{f"int{bits}": (pa.int8() if bits == 8 else getattr(pa, f"int{bits}")(), [3, 4, 5]) for bits in [8, 16, 32, 64]},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), [3, 4, 5]) for bits in [8, 16, 32, 64]},
    "half": (pa.float16(), [3, 4, 5]),
    "float": (pa.float32(), [3, 4, 5]),
    "double": (pa.float64(), [3, 4, 5]),
    **{name: (type, ["3", "4", "5"]) for name, type in {"string": pa.string(), "large_string": pa.large_string(), "string_view": pa.string_view()}.items()},
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["3", "4", "5"]),
    "json": (pa.json_(), ["3", "4", "5"]),
    **{name: (type, [b"3", b"4", b"5"]) for name, type in {"binary": pa.binary(), "large_binary": pa.large_binary(), "fixed": pa.binary(1)}.items()},
    "uuid": (pa.uuid(), [bytes([n] * 16) for n in [3, 4, 5]]),
    "date32": (pa.date32(), [date(2026, 1, 31)] * 3),
    "date64": (pa.date64(), [date(2026, 1, 31)] * 3),
    **{f"time_{unit}": (pa.time32(unit) if unit in ["s", "ms"] else pa.time64(unit), [time(12)] * 3) for unit in ["s", "ms", "us", "ns"]},
    **{f"timestamp_{unit}": (pa.timestamp(unit), [NOON] * 3) for unit in ["s", "ms", "us", "ns"]},
    **{f"instant_{unit}": (pa.timestamp(unit, "Europe/Berlin"), [NOON.replace(tzinfo=timezone.utc)] * 3) for unit in ["s", "ms", "us", "ns"]},
    "duration": (pa.duration("us"), [timedelta(microseconds=n) for n in [3, 4, 5]]),
    **{f"decimal{digits}": (pa.decimal128(digits, 6), [Decimal(n) for n in [3, 4, 5]]) for digits in [7, 18, 19, 38]},
    **{f"decimal{digits}": (pa.decimal256(digits, 6), [Decimal(n) for n in [3, 4, 5]]) for digits in [39, 53, 76]},
    "decimal_of_cents": (pa.decimal128(9, 2), [Decimal(n) for n in [3, 4, 5]]),
    "null": (pa.null(), [None, None, None]),
    "list": (pa.list_(pa.int64()), [[3], [4], [5]]),
    "struct": (pa.struct([("a", pa.int64())]), [{"a": 3}, {"a": 4}, {"a": 5}]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 3)], [("a", 4)], [("a", 5)]]),
}

RIGHT = {
    "event_time": pa.array([NOON] * 3, pa.timestamp("ms")),
    "publisher_company_id": pa.array([1, 2, 3], pa.int64()),
    "device_or_proxy": pa.array(["phone"] * 3),
    "served_ads": pa.array([1, 1, 1], pa.int64()),
    "clicks": pa.array([0, 0, 0], pa.int64()),
    "revenue": pa.array([Decimal("0.5")] * 3, pa.decimal128(18, 6)),
}


def write(name, table, **options):
    """Writes a lake of one day with one file."""
    folder = HOME / name / "publisher_events" / "day=2026-01-31"
    folder.mkdir(parents=True)
    parquet.write_table(table, folder / "events.parquet", **options)


for name, (kind, values) in TYPES.items():
    for column in ["event_time", "clicks", "device_or_proxy", "revenue"]:
        write(f"{name} as {column}", pa.table({**RIGHT, column: pa.array(values, kind)}))
for column in ["event_time", "clicks", "device_or_proxy", "revenue"]:
    nanoseconds = pa.table({**RIGHT, column: pa.array([NOON] * 3, pa.timestamp("ns"))})
    write(f"int96 as {column}", nanoseconds, use_deprecated_int96_timestamps=True)
    cents = pa.table({**RIGHT, column: pa.array([Decimal(n) for n in [3, 4, 5]], pa.decimal128(9, 2))})
    write(f"decimal_in_integers as {column}", cents, store_decimal_as_integer=True)

# Amounts and counts of many digits, and one with more than 38 that are not 0.
for digits in [39, 45, 53, 60, 76]:
    for column, values in {"revenue": ["1.50", "-2.25", "999999999999.999999"], "clicks": ["3", "4", "9007199254740993"]}.items():
        table = pa.table({**RIGHT, column: pa.array(map(Decimal, values), pa.decimal256(digits, 6))})
        write(f"wide {digits} {column}", table)
write("wide too long", pa.table({**RIGHT, "revenue": pa.array([Decimal(10**40)] * 3, pa.decimal256(76, 6))}))

# 30,000 records in several row groups and pages, each with a checksum.
many = pa.table(
    {
        **{name: pa.array(column.to_pylist() * 10_000, column.type) for name, column in RIGHT.items()},
        "placement_id": pa.array([n * 7919 % 30_000 for n in range(30_000)], pa.int64()),
    }
)
PAGES = dict(row_group_size=12_000, data_page_size=8_192, write_page_checksum=True)
for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
    for version in ["1.0", "2.0"]:
        write(f"checksums {codec} {version}", many, compression=codec, data_page_version=version, **PAGES)
