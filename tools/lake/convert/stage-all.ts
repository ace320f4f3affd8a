import type { InputPlan } from '../input/plan-input.ts';
import { tellChanges } from '../values/tell-changes.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import { batchesOf } from './batches.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import { readAll } from './plan-all.ts';
import { refusal } from './refusal.ts';
import { filesWithFailedChecks, type Staged, stageFiles, sumUp } from './stage.ts';

/**
 * Reads the files into the workspace, by day, and finds the values that the conversion changes. The files of a batch
 * are read a second time if one of their records has failed a check. A file is also read a second time if one of its
 * columns needs a tally. If a file can't be converted, all files are read again, and an OperatorFault lists every
 * reason.
 */
export async function stageAll(
  workspace: Workspace,
  plans: readonly InputPlan[],
  progress: ConversionProgress,
): Promise<{ readonly staged: readonly Staged[]; readonly changes: readonly string[] }> {
  const { connection } = workspace;
  const batches = batchesOf(plans);
  const refuseLosses = async () => {
    const { losses } = await readAll(connection, plans);
    if (losses.length > 0) throw refusal(losses);
  };
  try {
    await stageFiles(workspace, batches, progress);
  } catch (error) {
    // If a file can't be read whole, the faults of all files are listed together.
    await refuseLosses();
    throw error;
  }
  const toRead = await filesWithFailedChecks(workspace, batches);
  const read = await readAll(
    connection,
    plans
      .filter((plan) => toRead.has(plan) || plan.tallies.length > 0)
      .map((plan) =>
        // Without a failed check, the file is read only for its tallies, which count over whole columns.
        toRead.has(plan) ? plan : { ...plan, checks: [] },
      ),
  );
  if (read.losses.length > 0) await refuseLosses();
  return { staged: await sumUp(workspace), changes: tellChanges(read.changes) };
}
