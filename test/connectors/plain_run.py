"""Runs the connector's source as a plain dlt source, without the steps that `sync` does before the run."""

import sys
from datetime import date

import dlt
from performance_reports_dlt import performance_reports

database, fields, start, end = sys.argv[1:]
pipeline = dlt.pipeline(
    "performance_reports", destination=dlt.destinations.duckdb(database), dataset_name="performance_reports"
)
days = date.fromisoformat(start), date.fromisoformat(end)
print(pipeline.run(performance_reports("publisherperformance", fields.split(","), *days)))
