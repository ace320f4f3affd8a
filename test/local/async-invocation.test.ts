import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox, eventQueue } from '../../local/gateway/lambda.ts';
import { keptLog } from '../kept-log.ts';

const event = { detail: { object: { key: 'publications/id.json' } } };

/** A function that records its invocations. Its tries have these outcomes, and all later tries throw. */
const functionThat = (...outcomes: readonly ('works' | 'throws')[]) => {
  const invocations: unknown[][] = [];
  const invoke = async (...invocation: unknown[]) => {
    invocations.push(invocation);
    if (outcomes[invocations.length - 1] !== 'works') throw new Error('no luck');
  };
  return { sandbox: { invoke }, invocations };
};

const queueOf = (sandbox: Parameters<typeof eventQueue>[0]['sandbox'], retryPausesMs = [0, 0]) => {
  const records: object[] = [];
  const queue = eventQueue({
    name: 'publish',
    sandbox,
    retryPausesMs,
    onFailure: (record) => records.push(record),
    log: keptLog,
  });
  onTestFinished(() => queue.close());
  return { queue, records };
};

describe('an event', () => {
  it('is run again under the same request id until the function succeeds', async () => {
    const { sandbox, invocations } = functionThat('throws', 'throws', 'works');
    const { queue, records } = queueOf(sandbox);
    queue.send(event);
    await expect.poll(() => invocations).toHaveLength(3);
    expect(new Set(invocations.map(([, requestId]) => requestId)).size).toBe(1);
    expect(records).toEqual([]);
  });

  it('is dropped if the queue is closed between two tries', async () => {
    const [closed, open] = [functionThat(), functionThat()];
    const { queue, records } = queueOf(closed.sandbox, [100]);
    const other = queueOf(open.sandbox, [100]);
    queue.send(event);
    await expect.poll(() => closed.invocations).toHaveLength(1);
    queue.close();
    other.queue.send(event);
    await expect.poll(() => other.records).toHaveLength(1);
    expect([closed.invocations.length, records]).toEqual([1, []]);
  });
});

it('an event is tried again after a crash of its function and after a time-out', async () => {
  const home = await mkdtemp(join(tmpdir(), 'async-invocation-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const entry = join(home, 'function.mjs');
  await writeFile(
    entry,
    `export const handler = async (event) => {
       if (event === 'crash') process.exit(1);
       await new Promise((resolve) => setTimeout(resolve, 1_000_000));
     };`,
  );
  const sandbox = createSandbox({ name: 'publish', entry: pathToFileURL(entry), env: {}, timeoutMs: 50 });
  onTestFinished(() => sandbox.kill());
  const { queue, records } = queueOf(sandbox);
  queue.send('crash');
  queue.send('slow');
  await expect.poll(() => records.length, { timeout: 10_000 }).toBe(2);
  expect(records).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ requestPayload: 'crash' }),
      expect.objectContaining({ requestPayload: 'slow', responsePayload: expect.anything() }),
    ]),
  );
});
