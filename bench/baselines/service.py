"""A report service as one writes it in an hour: FastAPI, and CSV streamed from DuckDB. The caller sends the SQL.

    python service.py <directory of the events> <port>
"""

import io
import os
import sys

import duckdb
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from pyarrow import csv

events, port = sys.argv[1], int(sys.argv[2])
database = duckdb.connect()
for table in ("publisher_events", "advertiser_events"):
    database.execute(
        f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{events}/{table}/*/*.parquet', "
        "hive_partitioning = true, hive_types = {day: VARCHAR})"
    )
app = FastAPI()


@app.get("/report")
def report(sql: str):
    batches = database.cursor().execute(sql).to_arrow_reader(100_000)

    def chunks():
        is_first = True
        for batch in batches:
            text = io.BytesIO()
            csv.write_csv(batch, text, csv.WriteOptions(include_header=is_first))
            is_first = False
            yield text.getvalue()

    return StreamingResponse(chunks(), media_type="text/csv")


@app.get("/used")
def used():
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[1])
    return {"cpuMs": 1000 * sum(os.times()[:2]), "memoryMb": pages * os.sysconf("SC_PAGESIZE") / 2**20}


uvicorn.run(app, port=port, log_level="warning")
