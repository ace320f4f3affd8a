"""The records that each source writes, and the groups that their lake must have, summed with Python's decimals."""

import json
import random
from collections import defaultdict
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

MEASURES = ["served_ads", "placement_opens", "container_opens", "clicks", "revenue"]

# Times at both ends of a day and of an hour, which show a wrong zone or a rounded millisecond.
TIMES = ["00:00:00.000", "04:59:59.999", "05:00:00.000", "12:30:00.001", "22:59:59.999", "23:59:59.999"]
# As floats, the small amounts are written with an exponent, such as 7.6e-05.
AMOUNTS = ["0.000076", "0.000001", "0.00001", "-0.000012", "0.1", "0.3", "0", "-12.5", "1234567.891011", "4294967295.123456"]
DEVICES = ["phone", 'say "hi"', 'a "b", c', "two\nlines", "c, back\\slash", "日本", None]


def records(count=1200, days=("2026-01-29", "2026-01-30", "2026-01-31")):
    """Records as dictionaries with a time in UTC, integers, decimals and text; None is a missing value."""
    chance = random.Random(20)
    made = []
    for _ in range(count):
        # A fifth of the records are container-level: they have no placement.
        placement = chance.choice([None, 1, 2, 3, 4])
        day = datetime.fromisoformat(f"{chance.choice(days)}T{chance.choice(TIMES)}").replace(tzinfo=timezone.utc)
        revenue = chance.choice([*AMOUNTS, f"{chance.randrange(10**9)}e-6", None])
        made.append(
            {
                "event_time": day,
                "placement_id": placement,
                "container_id": chance.choice([11, 12]),
                "publisher_account_id": chance.choice([None, 21, 22]),
                "publisher_company_id": chance.choice([31, 32, 33]),
                "device_or_proxy": chance.choice(DEVICES),
                "served_ads": chance.randrange(4),
                "placement_opens": chance.randrange(4) if placement else 0,
                "container_opens": 0 if placement else chance.randrange(1, 4),
                "clicks": chance.choice([None, 0, 1]),
                "revenue": quantized(None if revenue is None else Decimal(revenue), 6),
            }
        )
    return made


def quantized(amount, digits, **options):
    return None if amount is None else amount.quantize(Decimal(1).scaleb(-digits), **options)


def rounded(rows):
    """The records after `--round`: amounts with six digits, rounded half away from zero."""
    return [row | {"revenue": quantized(row["revenue"], 6, rounding=ROUND_HALF_UP)} for row in rows]


def write_expected(file, rows):
    """Writes the number of records and the sums of measures, by UTC hour, placement, account, company and device."""
    sums = defaultdict(lambda: [0] * (1 + len(MEASURES)))
    for row in rows:
        hour = row["event_time"].astimezone(timezone.utc).strftime("%Y-%m-%d %H")
        group = sums[hour, row["placement_id"], row["publisher_account_id"], row["publisher_company_id"], row["device_or_proxy"]]
        group[0] += 1
        for index, measure in enumerate(MEASURES, 1):
            group[index] += row[measure] or 0
    text = lambda value: None if value is None else str(value)
    millionths = lambda amount: f"{Decimal(amount):.6f}"
    groups = [[*map(text, key), *map(str, counts), millionths(amount)] for key, (*counts, amount) in sums.items()]
    Path(file).write_text(json.dumps(groups))


def quotes_come_late(count=60_000):
    """Puts last the records whose text needs quotes in CSV, so a program that reads only the start sees no quotes."""
    return sorted(records(count), key=lambda row: row["device_or_proxy"] not in ["phone", "日本", None])
