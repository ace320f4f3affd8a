"""The records that each source writes, and what a lake made of them must hold. The sums are Python's own, of decimals."""

import json
import random
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

MEASURES = ["served_ads", "placement_opens", "container_opens", "clicks", "revenue"]

# Times at both ends of a day and of an hour, where a wrong zone or a rounded millisecond shows.
TIMES = ["00:00:00.000", "04:59:59.999", "05:00:00.000", "12:30:00.001", "22:59:59.999", "23:59:59.999"]
# Floats write the small ones with an exponent: 7.6e-05.
AMOUNTS = ["0.000076", "0.000001", "0.00001", "-0.000012", "0.1", "0.3", "0", "-12.5", "1234567.891011", "4294967295.123456"]
DEVICES = ["phone", "tablet", 'a "b", c', "Zürich", "日本", None]


def records(count=1200, days=("2026-01-29", "2026-01-30", "2026-01-31")):
    """Records as dictionaries: a time in UTC, integers, decimals and text; None where nothing is known."""
    chance = random.Random(20)
    made = []
    for _ in range(count):
        # A fifth of the records are of containers alone: they have no placement.
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
                "revenue": revenue if revenue is None else Decimal(revenue).quantize(Decimal("0.000001")),
            }
        )
    return made


def write_expected(file, rows):
    """Writes the number of records and the sums of each measure, by hour of UTC, placement, company and device."""
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


def through_clock_change(zone, hours=6):
    """Records of each half hour around the night of 2025-10-26, in which Berlin's 2 o'clock comes twice."""
    start = datetime(2025, 10, 25, 22, 0, tzinfo=timezone.utc)
    made = records(2 * hours)
    return [row | {"event_time": start + index * timedelta(minutes=30)} for index, row in enumerate(made)]
