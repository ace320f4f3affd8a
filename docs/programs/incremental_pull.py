"""Keeps a folder of daily reports equal to the service's: pulls the days that are new or have changed, and no others.

    python incremental_pull.py reports 2025-11-01 2026-02-01 --fields Day,PlacementId,ServedAds,Opens,Clicks,Revenue

One file a day, `2026-01-31.csv`, and `versions.json`, which says what each file holds. It may be killed at any moment
and run again: a file is there whole or not at all, and a day counts as pulled only once its file is there. The end is
exclusive. With --final it fails where a day of the range is not complete, after it has pulled those that are.
"""

import argparse
import contextlib
import fcntl
import json
import os
import sys
import time
from datetime import date, timedelta

import requests

DAYS_AT_ONCE = 400
TRIES = 5
RETRIED = {429, 500, 502, 503, 504}


class Service:
    """The service, asked with one token for as long as it is good."""

    def __init__(self):
        self.session = requests.Session()
        self.session.max_redirects = 50
        self.token, self.good_until = None, 0.0

    def authorization(self):
        if time.monotonic() > self.good_until:
            answer = self.session.post(
                os.environ["TOKEN_URL"],
                data={
                    "grant_type": "client_credentials",
                    "client_id": os.environ["CLIENT_ID"],
                    "client_secret": os.environ["CLIENT_SECRET"],
                    "scope": os.environ["SCOPE"],
                },
                timeout=60,
                allow_redirects=False,
            )
            if answer.status_code != 200:
                sys.exit(f"The token: {answer.status_code}: {answer.text}")
            body = answer.json()
            self.token = body["access_token"]
            self.good_until = time.monotonic() + int(body.get("expires_in", 300)) - 60
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path, parameters, use):
        """What `use` makes of the answer. Tries again where the service says so, or where the answer breaks off."""
        for attempt in range(1, TRIES + 1):
            wait, trouble = 2**attempt, None
            try:
                with self.session.get(
                    os.environ["API_URL"] + path,
                    params={**parameters, "api-version": "1.0"},
                    headers=self.authorization(),
                    timeout=60,
                    stream=True,
                ) as answer:
                    if answer.status_code == 200:
                        return use(answer)
                    trouble = f"{answer.status_code}: {answer.text}"
                    if answer.status_code == 401 and attempt == 1:
                        self.good_until, wait = 0.0, 0
                    # A download link that has expired in the meantime is answered by the store: ask for a new one.
                    elif answer.status_code not in RETRIED and not (answer.history and answer.status_code == 403):
                        break
                    wait = int(answer.headers.get("Retry-After", wait))
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                trouble = str(error)
            if attempt < TRIES:
                time.sleep(wait)
        sys.exit(f"{path} {parameters} failed. {trouble}")


def midnight(day):
    return f"{day.isoformat()}T00:00:00Z"


def days_of(service, report, start, end):
    """The days with events of a range of any length, with their states and versions."""
    days = []
    while start < end:
        stop = min(start + timedelta(days=DAYS_AT_ONCE), end)
        window = {"startInclusive": midnight(start), "endExclusive": midnight(stop)}
        days += service.get(f"/reporting/{report}/days", window, lambda answer: answer.json()["days"])
        start = stop
    return days


def replace(path, write):
    """Puts a whole file in place of an older one, or leaves that."""
    partial = f"{path}.part"
    with open(partial, "wb") as file:
        size = write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
    return size


def pull(service, report, query, day, path):
    """Pulls one day. Returns the version of the data that the file holds, None where that is not sure; and its size."""
    window = {name: day[name] for name in ("startInclusive", "endExclusive")}

    def save(answer):
        # The redirect to the file names the version of its data. Without the header, the data changed meanwhile.
        versions = [hop.headers["Data-Version"] for hop in answer.history if "Data-Version" in hop.headers]
        size = replace(path, lambda file: sum(map(file.write, answer.iter_content(1 << 20))))
        return (versions[-1] if versions else None), size

    return service.get(f"/reporting/{report}", {**query, **window}, save)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("start", type=date.fromisoformat, help="first day, 2026-01-01")
    parser.add_argument("end", type=date.fromisoformat, help="the day after the last")
    parser.add_argument("--report", default="publisherperformance")
    parser.add_argument("--fields", default="Day,PlacementId,ServedAds,Opens,Clicks,Revenue")
    parser.add_argument("--filter", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--final", action="store_true", help="fail where a day is not complete")
    asked = parser.parse_args()

    query = {"requestedFields": asked.fields}
    for field, value in (entry.split("=", 1) for entry in asked.filter):
        query.setdefault(f"filter[{field}]", []).append(value)

    os.makedirs(asked.folder, exist_ok=True)
    lock = open(os.path.join(asked.folder, ".lock"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(f"{asked.folder} is being written by another run.")

    kept_in = os.path.join(asked.folder, "versions.json")
    # Whose rows a report has depends on who asks; a version says nothing of that.
    asking = [os.environ["API_URL"], os.environ["CLIENT_ID"]]
    kept = {"query": [*asking, asked.report, query], "versions": {}}
    with contextlib.suppress(FileNotFoundError):
        with open(kept_in, encoding="utf-8") as file:
            earlier = json.load(file)
        # Files of a run with another client, another report, other fields or other filters are pulled again.
        if earlier["query"] == kept["query"]:
            kept = earlier
    versions = kept["versions"]

    def remember():
        replace(kept_in, lambda file: file.write(json.dumps(kept, indent=1).encode()))

    def path_of(day):
        return os.path.join(asked.folder, f"{day}.csv")

    service = Service()
    days = days_of(service, asked.report, asked.start, asked.end)
    there = {entry["day"] for entry in days}
    for name in sorted(os.listdir(asked.folder)):
        day = name.removesuffix(".csv")
        if name.endswith(".csv") and asked.start.isoformat() <= day < asked.end.isoformat() and day not in there:
            # All events of this day have been taken back.
            os.remove(path_of(day))
            versions.pop(day, None)
            remember()

    pulled, size, unsure = 0, 0, []
    for entry in days:
        day = entry["day"]
        if versions.get(day) == entry["version"] and os.path.exists(path_of(day)):
            continue
        # First forgotten, then replaced, then remembered: killed in between, the day is pulled again.
        if versions.pop(day, None):
            remember()
        version, day_size = pull(service, asked.report, query, entry, path_of(day))
        pulled, size = pulled + 1, size + day_size
        if version is None:
            unsure.append(day)
        else:
            versions[day] = version
            remember()
    print(f"{len(days)} days, {pulled} of them pulled, {size} bytes")

    if unsure:
        sys.exit(f"Changed while they were pulled; run again: {', '.join(unsure)}")
    incomplete = [f"{entry['day']} ({entry['state']})" for entry in days if entry["state"] != "final"]
    wanted = (asked.start + timedelta(days=nth) for nth in range((asked.end - asked.start).days))
    incomplete += [f"{day} (no events)" for day in wanted if day.isoformat() not in there]
    if asked.final and incomplete:
        sys.exit(f"Not complete: {', '.join(sorted(incomplete))}")


if __name__ == "__main__":
    main()
