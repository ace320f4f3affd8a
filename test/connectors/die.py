"""Runs the connector's command, and dies as by SIGKILL at one step of a load. The first argument names the step."""

import os
import signal
import sys

from dlt.destinations.impl.duckdb.duck import DuckDbClient, DuckDbCopyJob
from performance_reports_dlt import command


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def copy_and_die(job):
    copy(job)
    if not job.load_table_name.startswith("_dlt"):
        die()


step = sys.argv.pop(1)
if step == "staging":
    # The rows are in the staging table. dlt has not noted it yet.
    copy = DuckDbCopyJob.run
    DuckDbCopyJob.run = copy_and_die
else:
    # The table has the new rows. The load is not completed, so that the state in the destination is the old one.
    assert step == "merge", step
    DuckDbClient.complete_load = lambda client, load_id: die()
command.main()
