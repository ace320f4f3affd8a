import { setTimeout as delay } from 'node:timers/promises';
import type { Execution } from '../aws/query-execution.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import { RESULTS_PREFIX } from '../names.ts';
import { publishReport, queriedAt } from './publish-report.ts';
import type { ReportOrder } from './report-order.ts';

/** What the publishing function is told. */
interface Publication {
  readonly order: ReportOrder;
  readonly execution: Execution;
}

const HEARTBEAT_MS = 2_000;

/** No sign of life for this long: the publishing function died. Its start takes a few seconds of it. */
const DEAD_AFTER_MS = 8_000;

const FIRST_INTERVAL_MS = 200;
const LONGEST_INTERVAL_MS = 2_000;

/**
 * Has the publishing function publish a result, and waits for it. Resolves to whether the report is there by the
 * deadline. Whoever waits sees to it that one publication is under way, and orders another if it dies.
 */
export async function awaitPublication(
  results: ResultsBucket,
  publication: Publication,
  deadline: number,
): Promise<boolean> {
  const { execution } = publication;
  const orderKey = `${RESULTS_PREFIX.orders}${execution.id}.json`;
  for (let intervalMs = FIRST_INTERVAL_MS; ; intervalMs = Math.min(2 * intervalMs, LONGEST_INTERVAL_MS)) {
    if (await isPublished(results, publication)) return true;
    if (!(await results.writeIfStill(undefined, orderKey, publication))) {
      const signs = await Promise.all([results.head(orderKey), results.head(heartbeatKey(execution))]);
      const lastSign = Math.max(...signs.map((sign) => sign?.lastModified ?? 0));
      if (Date.now() - lastSign > DEAD_AFTER_MS) await results.write(orderKey, publication);
    }
    const now = Date.now();
    if (now >= deadline) return false;
    await delay(Math.min(intervalMs, deadline - now));
  }
}

/** Publishes what the order at the key says, with a heartbeat for those who wait. Does nothing twice. */
export async function fulfilOrder(
  results: ResultsBucket,
  orderKey: string,
): Promise<Publication | undefined> {
  const publication = (await results.read(orderKey))?.document as Publication | undefined;
  if (!publication || (await isPublished(results, publication))) return undefined;
  const { order, execution } = publication;
  const beat = () => results.write(heartbeatKey(execution), {}).catch(() => {});
  await beat();
  const heart = setInterval(beat, HEARTBEAT_MS);
  try {
    await publishReport(results, order, execution, Number.POSITIVE_INFINITY);
  } finally {
    clearInterval(heart);
  }
  return publication;
}

const heartbeatKey = ({ id }: Execution) => `${RESULTS_PREFIX.heartbeats}${id}.json`;

const isPublished = async (results: ResultsBucket, { order, execution }: Publication): Promise<boolean> =>
  ((await queriedAt(results, order)) ?? 0) >= execution.submittedAt;
