import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createSandbox, eventQueue } from '../../local/gateway/lambda.ts';
import { keptLog } from '../kept-log.ts';

const event = { detail: { object: { key: 'publications/id.json' } } };

/** A function that records its invocations, which all throw. */
const functionThatThrows = () => {
  const invocations: unknown[][] = [];
  const invoke = async (...invocation: unknown[]) => {
    invocations.push(invocation);
    throw new Error('no luck');
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

it('an event is dropped if the queue is closed between two tries', async () => {
  const [closed, open] = [functionThatThrows(), functionThatThrows()];
  const { queue, records } = queueOf(closed.sandbox, [100]);
  const other = queueOf(open.sandbox, [100]);
  queue.send(event);
  await expect.poll(() => closed.invocations).toHaveLength(1);
  queue.close();
  other.queue.send(event);
  await expect.poll(() => other.records).toHaveLength(1);
  expect([closed.invocations.length, records]).toEqual([1, []]);
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
