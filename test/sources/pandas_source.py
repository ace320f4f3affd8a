"""Writes a folder for each way in which people write records with pandas, and the expected groups beside it."""

import sys
from decimal import Decimal
from pathlib import Path

import pandas
from records import quantized, quotes_come_late, records, rounded, write_expected

HOME = Path(sys.argv[1])
NEW_YORK = "America/New_York"


def frame_of(rows):
    """The records with pandas' default types: naive times in UTC, floats for amounts and for integers with gaps."""
    return pandas.DataFrame(
        [
            row
            | {
                "event_time": row["event_time"].replace(tzinfo=None),
                "revenue": None if row["revenue"] is None else float(row["revenue"]),
            }
            for row in rows
        ]
    )


def write(case, rows, frame=None, **options):
    """Writes a case with to_csv or to_parquet, by the ending of its name. Without `options`, pandas' defaults hold."""
    folder = HOME / case
    folder.mkdir()
    frame = frame_of(rows) if frame is None else frame
    if case.endswith(".csv"):
        frame.to_csv(folder / "events.csv", **options)
    else:
        frame.to_parquet(folder / "events.parquet", **options)
    write_expected(HOME / f"{case}.json", rows)


def with_zone(frame, zone):
    return frame.assign(event_time=frame["event_time"].dt.tz_localize("UTC").dt.tz_convert(zone))


def without_offset(frame, zone):
    return frame.assign(event_time=with_zone(frame, zone)["event_time"].dt.tz_localize(None))


def epochs(frame, unit):
    return frame.assign(event_time=frame["event_time"].astype(f"datetime64[{unit}]").astype("int64"))


def with_revenue(floats):
    """The records with these amounts, each written as the shortest decimal that reads back as the float."""
    return [
        row | {"revenue": None if pandas.isna(value) else Decimal(repr(float(value)))} for row, value in zip(rows, floats)
    ]


rows = records()
plain = frame_of(rows)
decimals = plain.assign(revenue=[row["revenue"] for row in rows])
longer = plain.assign(revenue=[quantized(row["revenue"], 8) for row in rows])
nullable = with_zone(plain, "UTC").convert_dtypes()

for file in ["csv", "parquet"]:
    write(f"default.{file}", rows)
    write(f"zone.{file}", rows, with_zone(plain, NEW_YORK))
    write(f"local.{file}", rows, without_offset(plain, NEW_YORK))
    write(f"decimals.{file}", rows, decimals)
    write(f"long-decimals.{file}", rows, longer)
    write(f"nullable.{file}", rows, nullable)
    arrow_text = pandas.StringDtype("pyarrow")
    write(f"arrow-text.{file}", rows, nullable.astype({"device_or_proxy": arrow_text, "revenue": "float64"}))
    categories = {"device_or_proxy": "category", "publisher_company_id": "category"}
    write(f"categories.{file}", rows, plain.astype(categories))
    text = decimals.astype({"revenue": object}).map(lambda value: None if pandas.isna(value) else str(value))
    write(f"text.{file}", rows, text.assign(event_time=with_zone(plain, "UTC")["event_time"].map(lambda time: time.isoformat())))
    for unit in ["ms", "us", "ns"]:
        write(f"epoch-{unit}.{file}", rows, epochs(plain, unit))
    # In whole seconds, the times lack the records' milliseconds. No hour depends on them.
    write(f"epoch-s.{file}", rows, epochs(plain, "s"))
    write(f"epoch-floats.{file}", rows, plain.assign(event_time=epochs(plain, "ms")["event_time"] / 1000))
    halves = plain.assign(revenue=[(index - 600) * 5e-7 for index in range(len(rows))])
    write(f"halves.{file}", rounded(with_revenue(halves["revenue"])), halves)

write("semicolons.csv", rows, plain, sep=";")
known = [row | {"device_or_proxy": row["device_or_proxy"] or "phone"} for row in rows]
write("words-for-missing.csv", known, frame_of(known), na_rep="NaN")
write("late-quotes.csv", quotes_come_late())
