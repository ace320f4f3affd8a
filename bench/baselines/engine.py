"""An engine alone: makes reports one after the other and prints what that took, as JSON.

    python engine.py <polars|datafusion> <directory of the events> <directory for files>  < a JSON list of SQL
"""

import json
import os
import sys
import time

engine, events, scratch = sys.argv[1:]
questions = json.load(sys.stdin)
file = f"{scratch}/report.csv"
tables = ("publisher_events", "advertiser_events")

if engine == "polars":
    import polars

    context = polars.SQLContext(
        {
            table: polars.scan_parquet(
                f"{events}/{table}/*/*.parquet", hive_partitioning=True, hive_schema={"day": polars.String}
            )
            for table in tables
        }
    )

    def make(sql):
        context.execute(sql).sink_csv(file)

else:
    import datafusion
    import pyarrow

    context = datafusion.SessionContext()
    for table in tables:
        context.register_parquet(table, f"{events}/{table}/", table_partition_cols=[("day", pyarrow.string())])

    def make(sql):
        context.sql(sql).write_csv(file, with_header=True)


for sql in questions[:5]:
    make(sql)
began_cpu, took = sum(os.times()[:2]), []
for sql in questions:
    began = time.perf_counter()
    make(sql)
    took.append(1000 * (time.perf_counter() - began))
print(json.dumps({"ms": took, "cpuMs": 1000 * (sum(os.times()[:2]) - began_cpu)}))
