"""Pulls a report as the expected content of a table. Uses only requests and csv, and no code of the connector."""

import csv
import io
import os
from datetime import date, timedelta

import requests

WINDOW_DAYS = 30


def token():
    answer = requests.post(
        os.environ["TOKEN_URL"],
        data={
            "grant_type": "client_credentials",
            "client_id": os.environ["CLIENT_ID"],
            "client_secret": os.environ["CLIENT_SECRET"],
            "scope": os.environ["SCOPE"],
        },
        timeout=60,
    )
    answer.raise_for_status()
    return answer.json()["access_token"]


def full_pull(authorization, report, fields, start, end, filters=()):
    """Returns all rows as tuples of texts, and the number of bytes of the files."""
    rows, size = [], 0
    at, end = date.fromisoformat(start), date.fromisoformat(end)
    while at < end:
        stop = min(at + timedelta(days=WINDOW_DAYS), end)
        answer = requests.get(
            f"{os.environ['API_URL']}/reporting/{report}",
            params=[
                ("requestedFields", ",".join(fields)),
                ("startInclusive", f"{at}T00:00:00Z"),
                ("endExclusive", f"{stop}T00:00:00Z"),
                ("api-version", "1.0"),
                *((f"filter[{name}]", value) for name, value in filters),
            ],
            headers={"Authorization": f"Bearer {authorization}"},
            timeout=60,
        )
        answer.raise_for_status()
        size += len(answer.content)
        names, *found = csv.reader(io.StringIO(answer.content.decode(), newline=""))
        assert names == list(fields), names
        rows += map(tuple, found)
        at = stop
    return rows, size
