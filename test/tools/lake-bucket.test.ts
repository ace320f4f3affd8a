import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { tables } from '../../lib/report/tables.ts';
import { createFaults, type Faults } from '../../local/faults/faults.ts';
import { startObjectStore } from '../../local/object-store/object-store.ts';
import { environmentOf } from './hours-world.ts';
import { publisherRecord, writingFolder } from './make-parquet.ts';
import { type LakeRun, runLake } from './run-lake.ts';

const BUCKET = 'the-lake';

const { folder: directory, writer } = await writingFolder();

let calls: string[] = [];
const strike: Faults['strike'] = async (_on, call) => {
  calls.push(call);
  return [];
};
const faults: Faults = { ...createFaults(), strike };
const store = await startObjectStore({ directory: join(directory, 'store'), buckets: [BUCKET], faults });
afterAll(() => store.close());
/** The URL of the lake. Each test has its own lake. */
let LAKE: string;
beforeEach(async () => {
  LAKE = `s3://${BUCKET}/${randomUUID()}`;
  expect((await lake('convert', await input(1), '--to', LAKE)).code).toBe(0);
  calls = [];
});

const lake = (...parameters: string[]): Promise<LakeRun> => {
  Object.assign(process.env, environmentOf(store));
  return runLake(parameters);
};

/** Writes a file with a record of 29 January and a record of 30 January, each with this many clicks. */
const input = async (clicks: number): Promise<string> => {
  const on = (day: string) =>
    publisherRecord({ clicks: `${clicks}::BIGINT`, event_time: `TIMESTAMP '2026-01-${day} 12:00:00'` });
  await writer.file(`in-${clicks}.parquet`, `${on('29')} UNION ALL ${on('30')}`);
  return join(directory, `in-${clicks}.parquet`);
};

/** The clicks of each day of a lake in the bucket, read from a copy that `convert` makes in a folder. */
const clicksIn = async (source: string): Promise<unknown[][]> => {
  const copy = await mkdtemp(join(directory, 'copy-'));
  const { code, stderr } = await lake('convert', source, '--to', copy);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return writer.rows(
    `SELECT strftime(event_time, '%d'), sum(clicks)::INTEGER FROM read_parquet('${copy}/*/*/*.parquet') GROUP BY 1 ORDER BY 1`,
  );
};

const written = (call: string) => /^(PUT|DELETE|POST) /.test(call);
const short = (call: string) =>
  call.replace(/[^ ]+publisher_events\//, '').replace(/events-[0-9a-f]+/, 'events-x');

describe('a lake in a bucket', () => {
  it('replaces a day in this order: delete the marker, add new files, delete old files, add a marker', async () => {
    const again = await lake('convert', await input(2), '--to', `${LAKE}/`, '--replace');
    expect(again.code).toBe(0);
    expect(calls.filter(written).map(short)).toEqual(
      ['day=2026-01-29', 'day=2026-01-30'].flatMap((day) => [
        `DELETE ${day}/_SUCCESS`,
        `PUT ${day}/events-x.parquet`,
        `DELETE ${day}/events-x.parquet`,
        `PUT ${day}/_SUCCESS`,
      ]),
    );
    expect((await clicksIn(LAKE)).join(' ')).toBe('29,2 30,2');
  });

  it('shows the same faults in a check as a folder with the same files', async () => {
    const odd = join(directory, 'odd');
    const day = 'odd/publisher_events/day=2026-01-31';
    await writer.file(`${day}/float`, publisherRecord({ revenue: '1.5::DOUBLE' }));
    await writer.file(`${day}/negative`, publisherRecord({ clicks: '-1::BIGINT' }));
    await mkdir(join(odd, 'publisher_events/day=2026-1-1'));
    await writeFile(join(odd, 'publisher_events/day=2026-1-1/x'), 'x');
    await writeFile(join(odd, 'publisher_events/day=2026-01-31/some.csv'), 'a,b\n');
    const inStore = { directory: join(directory, 'shown'), buckets: [], shown: { [BUCKET]: odd } };
    const shown = await startObjectStore(inStore);
    for (const more of [[], ['--footers']]) {
      const inFolder = await lake('check', odd, ...more);
      Object.assign(process.env, { AWS_ENDPOINT_URL_S3: shown.url });
      const inBucket = await runLake(['check', `s3://${BUCKET}`, ...more]);
      const moved = inFolder.stdout.replaceAll(`${odd}-converted`, `s3://${BUCKET}/converted`);
      expect(inBucket.stdout).toBe(moved.replaceAll(odd, `s3://${BUCKET}`));
      expect(inBucket.code).toBe(1);
      expect(inBucket.stdout).toMatch(/\d faults\.\nNext: .*\n$/);
    }
    await shown.close();
  });

  it('gets its missing tables from lake -- init', async () => {
    const lacking = tables.map(({ name }) => name).filter((name) => name !== 'publisher_events');
    const made = lacking.map((name) => `Made ${name}, empty.\n`).join('');
    expect((await lake('init', LAKE)).stdout).toBe(`${made}Next: \`npm run lake -- check ${LAKE}\`\n`);
    expect((await lake('init', LAKE)).stdout).toMatch(/^Nothing was missing/);
    const { stdout } = await lake('check', LAKE);
    expect(stdout).toContain('advertiser_events/\n   found   it holds no records');
    const again = await lake('convert', await input(2), '--to', LAKE, '--replace');
    expect(again.stdout).toMatch(/\nNext: npm run lake -- check s3:\S+\n$/);
  });

  it('is named in an error that says what to check, if the bucket does not exist', async () => {
    const { code, stderr } = await lake('check', 's3://another/events');
    const says =
      /^s3:\/\/another\/events can't be reached: NoSuchBucket .* Check bucket, region and credentials\.\n$/;
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  });
});
