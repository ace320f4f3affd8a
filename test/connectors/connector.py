"""Runs the connector's command again and again in one process, and compares its table with a full pull.

A line on the standard input is a request, a line on the standard output its answer, both in JSON.
"""

import contextlib
import io
import json
import re
import sys

import duckdb
from full_pull import full_pull, token
from performance_reports_dlt import command


def run(argv):
    output = io.StringIO()
    sys.argv = ["performance-reports-sync", *argv]
    code = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            command.main()
        except SystemExit as end:
            code = end.code
            if isinstance(code, str):
                print(code)
                code = 1
    return {"code": code or 0, "output": output.getvalue()}


def texts_of(database, table, fields):
    """The table's rows with their values as in a CSV."""
    connection = duckdb.connect(database, read_only=True)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        types = dict(
            connection.execute(
                "SELECT column_name, data_type FROM information_schema.columns "
                "WHERE table_schema = 'performance_reports' AND table_name = ?",
                [table],
            ).fetchall()
        )
        names = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).lower() for field in fields]
        values = [
            f"strftime({name}, '%Y-%m-%dT%H:%M:%SZ')" if types[name].startswith("TIMESTAMP") else f"{name}::VARCHAR"
            for name in names
        ]
        rows = connection.execute(f"SELECT {', '.join(values)} FROM performance_reports.{table}").fetchall()
        return [tuple(value or "" for value in row) for row in rows], types
    finally:
        connection.close()


authorization = []


def compare(database, table, report, fields, start, end, filters=()):
    """Up to five rows that only one side has, the numbers of rows, the bytes of the full pull, and the column types."""
    if not authorization:
        authorization.append(token())
    expected, size = full_pull(authorization[0], report, fields, start, end, filters)
    found, types = texts_of(database, table, fields)
    expected.sort()
    found.sort()
    differences = [] if expected == found else sorted(set(expected) ^ set(found))[:5] or ["rows that are there twice"]
    return {"rows": len(found), "expectedRows": len(expected), "bytes": size, "differences": differences, "types": types}


def select(database, sql):
    connection = duckdb.connect(database, read_only=True)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        return [[str(value) for value in row] for row in connection.execute(sql).fetchall()]
    finally:
        connection.close()


if __name__ == "__main__":
    answers = sys.stdout
    for line in sys.stdin:
        request = json.loads(line)
        does = {"run": run, "compare": compare, "select": select}[request["does"]]
        try:
            answer = does(**request["with"])
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)
