"""Writes a folder for each way in which Spark writes the records, and the expected groups beside it."""

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, to_timestamp_ntz, unix_millis
from records import quantized, quotes_come_late, records, rounded, write_expected

HOME = Path(sys.argv[1])
TIMESTAMP_TYPE = "spark.sql.parquet.outputTimestampType"

session = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    # The time zone of the cluster. Spark writes the times of CSV files in it.
    .config("spark.sql.session.timeZone", "America/New_York")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
session.sparkContext.setLogLevel("ERROR")

COLUMNS = """event_time timestamp, placement_id bigint, container_id bigint, publisher_account_id bigint,
    publisher_company_id bigint, device_or_proxy string, served_ads bigint, placement_opens bigint,
    container_opens bigint, clicks bigint, revenue decimal(38,18), day string"""


def frame_of(rows):
    return session.createDataFrame([tuple(row.values()) + (f"{row['event_time']:%Y-%m-%d}",) for row in rows], COLUMNS)


def with_revenue(frame, type):
    return frame.withColumn("revenue", col("revenue").cast(type))


def parquet(case, rows, frame, timestamps, partition="day"):
    session.conf.set(TIMESTAMP_TYPE, timestamps)
    frame.write.partitionBy(partition).parquet(str(HOME / case))
    write_expected(HOME / f"{case}.json", rows)


def csv(case, rows, frame, **options):
    frame.drop("day").write.options(**options).csv(str(HOME / case))
    write_expected(HOME / f"{case}.json", rows)


rows = records()
plain = frame_of(rows)
parquet("int96-decimal-38-18", rows, plain, "INT96")
parquet("micros-decimal-18-6", rows, with_revenue(plain, "decimal(18,6)"), "TIMESTAMP_MICROS")
parquet("millis-double", rows, with_revenue(plain, "double"), "TIMESTAMP_MILLIS")
local = plain.withColumn("event_time", to_timestamp_ntz(col("event_time").cast("string")))
parquet("no-zone", rows, local, "TIMESTAMP_MICROS")
parquet("unix-millis", rows, plain.withColumn("event_time", unix_millis("event_time")), "TIMESTAMP_MICROS")
parquet("by-company", rows, plain, "TIMESTAMP_MICROS", "publisher_company_id")

# Shares of amounts: a seventh of 0.1 has more digits than an amount of the contract.
shares = [row | {"revenue": quantized(row["revenue"] and row["revenue"] / 7, 18)} for row in rows]
parquet("shares", rounded(shares), frame_of(shares), "INT96")

# Spark writes a quote in a text as \", unless an option makes it double the quote.
csv("backslashes.csv", rows, plain, header=True)
csv("decimals.csv", rows, plain, header=True, escape='"')
csv("doubles.csv", rows, with_revenue(plain, "double"), header=True, escape='"')
csv("doubles.csv.gz", rows, with_revenue(plain, "double"), header=True, compression="gzip", escape='"')
csv("no-header.csv", rows, plain, escape='"')
late = quotes_come_late()
csv("late-quotes-doubled.csv", late, frame_of(late).coalesce(1), header=True, escape='"')
session.stop()
