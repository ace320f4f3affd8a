"""Runs the connector's command again and again in one process, and reads its table.

A line on the standard input is a request, a line on the standard output its answer, both in JSON.
"""

import contextlib
import io
import json
import re
import sys

import duckdb
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


def rows(database, table, fields):
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
        found = connection.execute(f"SELECT {', '.join(values)} FROM performance_reports.{table}").fetchall()
        return [[value or "" for value in row] for row in found]
    finally:
        connection.close()


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
        does = {"run": run, "rows": rows, "select": select}[request["does"]]
        try:
            answer = does(**request["with"])
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)
