"""Writes a folder for each way in which people write such records with pandas, and beside it what must come of it."""

import sys
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pandas
from records import records, through_clock_change, write_expected

HOME = Path(sys.argv[1])
NEW_YORK = "America/New_York"
BERLIN = "Europe/Berlin"


def frame_of(rows):
    """As pandas takes them by itself: naive times in UTC, floats for amounts and for integers that are not all known."""
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
    """A case named `….csv` is written by to_csv, one named `….parquet` by to_parquet, both with pandas' own defaults."""
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


rows = records()
plain = frame_of(rows)
decimals = plain.assign(revenue=[row["revenue"] for row in rows])
longer = plain.assign(revenue=[row["revenue"] and row["revenue"].quantize(Decimal("1e-8")) for row in rows])
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
    # Whole seconds: the record's millisecond is not in the column, and no hour depends on it.
    write(f"epoch-s.{file}", rows, epochs(plain, "s"))
    mixed = epochs(plain, "ms")
    mixed.loc[::2, "event_time"] //= 1000
    write(f"epoch-mixed.{file}", rows, mixed)

    # Floats that were multiplied and added: 0.30000000000000004.
    noisy = plain.assign(revenue=plain["revenue"] * 1.1 + 0.2)
    exact = [row | {"revenue": None if pandas.isna(value) else Decimal(repr(float(value)))} for row, value in zip(rows, noisy["revenue"])]
    rounded = [row | {"revenue": row["revenue"] and row["revenue"].quantize(Decimal("1e-6"), ROUND_HALF_EVEN)} for row in exact]
    write(f"noisy.{file}", rounded, noisy)
    write(f"noisy-at-source.{file}", rounded, noisy.round({"revenue": 6}))

    # Some identifiers are not known, so that pandas takes all of them for floats, and changes those above 2^53.
    large = [row | {"publisher_account_id": row["publisher_account_id"] and 2**53 + row["publisher_account_id"]} for row in rows]
    write(f"large-floats.{file}", large)
    integers = pandas.array([row["publisher_account_id"] for row in large], dtype="Int64")
    write(f"large-integers.{file}", large, frame_of(large).assign(publisher_account_id=integers))

    night = through_clock_change(BERLIN)
    write(f"clock-change-local.{file}", night, without_offset(frame_of(night), BERLIN))
    write(f"clock-change-zone.{file}", night, with_zone(frame_of(night), BERLIN))

    absent = plain.copy()
    absent.loc[7, "event_time"] = pandas.NaT
    write(f"no-time.{file}", rows, absent)
    known = [row for index, row in enumerate(rows) if index != 7]
    write(f"no-time-left-out.{file}", known, absent.dropna(subset=["event_time"]))

single = plain.astype({"revenue": "float32"})
write("single-floats.parquet", rows, single)
write("decimal-comma.csv", rows, plain, sep=";", decimal=",")
write("semicolons.csv", rows, plain, sep=";")
thousands = plain.assign(revenue=plain["revenue"].map(lambda value: f"{value:,.6f}", na_action="ignore"))
write("thousands.csv", rows, thousands)
write("thousands-removed.csv", rows, thousands.assign(revenue=thousands["revenue"].str.replace(",", "")))
write("seconds-as-floats.parquet", rows, plain.assign(event_time=epochs(plain, "ms")["event_time"] / 1000))
