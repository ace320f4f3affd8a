"""Runs the connector's command, and kills itself with SIGKILL at the step of a load that the first argument names."""

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
    # The rows are in the staging table, but dlt has not recorded that yet.
    copy = DuckDbCopyJob.run
    DuckDbCopyJob.run = copy_and_die
else:
    # The table has the new rows. The load is not completed, so the destination still has the old state.
    assert step == "merge", step
    DuckDbClient.complete_load = lambda client, load_id: die()
command.main()
