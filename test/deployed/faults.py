"""
The faults that tests set in the emulator: those of `local/faults/faults.ts`, read from a file. The number of calls
that each fault has matched is written to another file beside that file.
"""

import asyncio
import json
import os

FILE = os.environ["LANE_FAULTS"]

_armed = []
_read = None


def _current():
    """The faults in the file; their counts restart at zero whenever the file is written."""
    global _armed, _read
    try:
        with open(FILE, encoding="utf-8") as file:
            # The file has a new id each time it is written, so equal faults that are set again count from zero.
            text = file.read()
    except FileNotFoundError:
        return []
    if text != _read:
        _armed = [{"fault": fault, "matched": 0, "struck": 0} for fault in json.loads(text)["faults"]]
        _read = text
    return _armed


def _tell():
    partial = f"{FILE}.partial"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump([entry["matched"] for entry in _armed], file)
    os.replace(partial, f"{FILE}.counts")


def strike(on, what):
    """The faults that strike this query or call. Counts the call for each fault that it matches."""
    striking = []
    for entry in _current():
        fault = entry["fault"]
        if fault["on"] != on or fault.get("match", "") not in what:
            continue
        entry["matched"] += 1
        if entry["matched"] % fault.get("every", 1) == 0 and entry["struck"] < fault.get("times", float("inf")):
            entry["struck"] += 1
            striking.append(fault)
    _tell()
    return striking


LONGER_THAN_ANYONE_WAITS_MS = 3_600_000


async def delay(faults):
    milliseconds = [
        fault.get("delayMs", 0) + fault.get("queuedMs", 0) + fault.get("stall", False) * LONGER_THAN_ANYONE_WAITS_MS
        for fault in faults
    ]
    await asyncio.sleep(max(milliseconds, default=0) / 1000)


def enlarged(body, faults):
    """The result with its rows repeated until it has at least `resultBytes`."""
    at_least = max([fault.get("resultBytes", 0) for fault in faults], default=0)
    head, _, rows = body.partition(b"\n")
    rounds = max(1, -(-(at_least - len(head)) // max(1, len(rows))))
    return head + b"\n" + rows * rounds
