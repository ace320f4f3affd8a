import { once } from 'node:events';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { publisherReport, reports } from '../../lib/report/catalogue.ts';
import { tableOf } from '../../lib/report/tables.ts';
import { spawnNode } from '../spawn-node.ts';
import { publisherRecord, record, writingFolder } from './make-parquet.ts';
import { runLake } from './run-lake.ts';

const { folder: directory, writer } = await writingFolder();

/**
 * Calls `meanwhile` while another process holds the lock of a directory for unfinished files. Resolves when that
 * process has ended.
 */
async function holdLock(folder: string, meanwhile: (kill: () => void) => unknown): Promise<void> {
  const code = `import { DuckDBInstance } from '@duckdb/node-api';
    globalThis.held = await DuckDBInstance.create(process.argv[1]);
    setInterval(() => {}, 60_000);
    process.stdout.write('held');`;
  const holder = spawnNode(['--input-type=module', '--eval', code, join(folder, 'lock.duckdb')], {});
  const ended = once(holder, 'exit');
  const early = ended.then(() => Promise.reject(new Error('It has ended')));
  await Promise.race([once(holder.stdout, 'data'), early]);
  await meanwhile(() => holder.kill('SIGKILL'));
  await ended;
}

/** Converts a file or folder to a lake. Both are paths in the directory. */
const convert = (input: string, lake: string, ...options: readonly string[]) =>
  runLake(['convert', join(directory, input), '--to', resolve(directory, lake), ...options]);

const filesIn = async (folder: string): Promise<string[]> => (await readdir(join(directory, folder))).sort();

/** The records, clicks and revenue of each day of a lake's publisher_events. */
const daysIn = async (lake: string): Promise<string> => {
  const files = join(directory, lake, 'publisher_events/day=*/*.parquet');
  const sums = 'count(*)::INTEGER, sum(clicks)::INTEGER, sum(revenue)::VARCHAR';
  const days = `SELECT strftime(event_time, '%d') AS day, ${sums} FROM '${files}' GROUP BY 1 ORDER BY 1`;
  return (await writer.rows(days)).join(' ');
};

describe('npm run lake -- convert', () => {
  const summed = ', summed by the hour to 4 records';
  it.each<[string, string[], string, string]>([
    ['as they are', [], '30,3,5,2.500000 31,2,4,1.000000', ''],
    ['summed by the hour', ['--hourly'], '30,2,5,2.500000 31,2,4,1.000000', summed],
  ])(
    'converts CSV and Parquet files of both tables, in folders, to a lake (records %s)',
    async (name, options, days, more) => {
      const ids = 'PlacementId,ContainerId,PublisherAccountId,PublisherCompanyId';
      const header = `EventTime,DeviceOrProxy,${ids},ServedAds,PlacementOpens,ContainerOpens,Clicks,Revenue\n`;
      const inHeader = header.replaceAll(/\B[A-Z]/g, '_$&').toLowerCase();
      // A column that the CSV files lack is left out of the Parquet files too: else --hourly could not sum records of both.
      const columns = tableOf(publisherReport).columns.filter((column) => !inHeader.includes(column.name));
      const absent = Object.fromEntries(columns.map((column) => [column.name, undefined]));
      const at = (text: string) => ({ event_time: `TIMESTAMP '2026-01-${text}:00'` });
      const records = ['30 12:00', '31 13:00'].map((text) => publisherRecord({ ...absent, ...at(text) }));
      await writer.file('mixed/part-0.parquet', records.join(' UNION ALL '));
      await writer.file('mixed/other/part-0', record('advertiser_events', at('31 12:00')));
      const rows = ['x', 'y'].map((device) => `2026-01-30 13:45:00+01:00,${device},1,1,1,1,1,1,0,2,75e-2\n`);
      await writeFile(join(directory, 'mixed/other/a.csv.gz'), gzipSync(header + rows.join('')));
      await writeFile(join(directory, 'mixed/b.csv'), `${header}2026-01-31T10:00:00,x,1,1,1,1,1,1,0,3,0`);
      const { code, stdout, stderr } = await convert('mixed', name, ...options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const window = /^publisher_events in .*: 2 days \(2026-01-30 to 2026-01-31, final\), 5 records/.source;
      expect(stdout).toMatch(RegExp(`${window}${more}\n  Sums, which must equal the source's: `));
      expect(stdout).not.toMatch(/SELECT|COPY/);
      expect(await daysIn(name)).toBe(days);
      const checked = await runLake(['check', join(directory, name)]);
      expect(checked.stdout).toMatch(/2 days \(2 final, 0 open\)/);
      expect(checked.code).toBe(0);
    },
  );

  it('says what the lake still lacks, and what to do next', async () => {
    const time = "TIMESTAMPTZ '2026-01-31 12:00:00+00'";
    await writer.file('next.parquet', publisherRecord({ event_time: time }));
    const lake = join(directory, "next's");
    const { stdout } = await convert('next.parquet', lake);
    const inShell = lake.replace("'", "'\\''");
    const others = reports.map(({ table }) => table).filter((table) => table !== 'publisher_events');
    expect(stdout.trimEnd().split('\n')).toHaveLength(4);
    expect(stdout).toMatch(/\nChanged on the way: nothing\n/);
    const init = `npm run lake -- init '${inShell}' makes ${others.join(' and ')} empty, which the lake lacks`;
    const check = `npm run lake -- check '${inShell}'`;
    expect(stdout).toContain(`\nNext: ${init}; then ${check}\n`);
    await runLake(['init', lake]);
    const again = await convert('next.parquet', lake, '--replace');
    expect(again.stdout).toContain(`\nNext: ${check}, then EVENTS_DIR='${inShell}' npm start\n`);
  });

  it('removes the unfinished files of a killed conversion, and refuses to run during another conversion', async () => {
    const lake = join(directory, 'shared');
    await writer.file('shared.parquet', publisherRecord());
    const work = ['killed', 'running', 'begun'].map((is) => join(lake, `.lake-work-${is}`));
    const [killed, running] = work as [string, string];
    for (const folder of work) await mkdir(folder, { recursive: true });
    await holdLock(killed, (kill) => kill());
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(killed, hourAgo, hourAgo);
    await holdLock(running, async (kill) => {
      const { code, stderr } = await convert('shared.parquet', lake);
      const says =
        /^Another command writes into \S*shared at present\. Run this one when that has ended\.\n$/;
      expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
      expect(await filesIn('shared')).toEqual(['.lake-work-begun', '.lake-work-running']);
      kill();
    });
    const { code } = await convert('shared.parquet', lake);
    expect(code).toBe(0);
    // A new directory without a lock, like `.lake-work-begun`, may belong to a command that has not yet taken its lock.
    expect(await filesIn('shared')).toEqual(['.lake-work-begun', '.lake-work-running', 'publisher_events']);
    const checked = await runLake(['check', lake]);
    expect(checked.stdout).not.toMatch(/lake-work/);
  });

  it('writes files sorted by company, in several row groups, with zstd', async () => {
    const mixed = '(hash(range) % 40)::BIGINT AS publisher_company_id, range AS container_id';
    const records = `SELECT * REPLACE (${mixed}) FROM (${publisherRecord()}), range(50000)`;
    await writer.file('sorting/in.parquet', records);
    await convert('sorting/in.parquet', 'sorted');
    const file = join(directory, 'sorted/publisher_events/day=2026-01-31/*.parquet');
    const groups =
      await writer.rows(`SELECT stats_min::BIGINT, stats_max::BIGINT, compression FROM parquet_metadata('${file}')
       WHERE path_in_schema = 'publisher_company_id' ORDER BY row_group_id`);
    expect(groups.length).toBeGreaterThan(3);
    for (const [index, [min, max, compression]] of groups.entries()) {
      expect(compression).toBe('ZSTD');
      expect(Number(min)).toBeGreaterThanOrEqual(Number(groups[index - 1]?.[1] ?? 0));
      expect(Number(max) - Number(min)).toBeLessThan(12);
    }
  });

  it('writes equal files for equal records, so a second conversion changes no file', async () => {
    const twice = join(directory, 'twice');
    const records = `SELECT * EXCLUDE (range) REPLACE ((hash(range) % 9)::BIGINT AS clicks) FROM (${publisherRecord()}), range(5000)`;
    await writer.file('one-way.parquet', `${records} ORDER BY range`);
    await writer.file('the-other.parquet', `${records} ORDER BY range DESC`);
    await convert('one-way.parquet', twice);
    const before = await filesIn('twice/publisher_events/day=2026-01-31');
    const again = await convert('the-other.parquet', twice, '--replace');
    expect(again.code).toBe(0);
    expect(await filesIn('twice/publisher_events/day=2026-01-31')).toEqual(before);
    expect(before).toEqual(['_SUCCESS', expect.stringMatching(/^events-[0-9a-f]{12}\.parquet$/)]);
  });

  it('refuses to write existing days without --replace, and with --replace replaces each day completely', async () => {
    const lake = join(directory, 'restated');
    const one = async (clicks: string, time: string) => {
      await writer.file('one.parquet', publisherRecord({ clicks, event_time: `TIMESTAMP '${time}'` }));
      return join(directory, 'one.parquet');
    };
    await runLake(['convert', await one('1::BIGINT', '2026-01-30 10:00:00'), '--to', lake]);
    await runLake(['convert', await one('2::BIGINT', '2026-01-31 10:00:00'), '--to', lake]);
    const refused = await runLake(['convert', await one('3::BIGINT', '2026-01-31 11:00:00'), '--to', lake]);
    const says =
      /Nothing was written: .* holds files of these days: publisher_events 2026-01-31\. Say --replace/;
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(says)]);
    const replaced = await convert('one.parquet', lake, '--replace', '--open');
    expect([replaced.code, replaced.stdout]).toEqual([
      0,
      expect.stringMatching(/: 1 day \(2026-01-31, open\)/),
    ]);
    expect(await daysIn('restated')).toBe('30,1,1,1.000000 31,1,3,1.000000');
    expect(await filesIn('restated/publisher_events')).toEqual(['day=2026-01-30', 'day=2026-01-31']);
    expect(await filesIn('restated/publisher_events/day=2026-01-30')).toContain('_SUCCESS');
    expect(await filesIn('restated/publisher_events/day=2026-01-31')).not.toContain('_SUCCESS');
  });

  it.each([
    ['new', 'old'],
    ['whole', 'old'],
    ['whole', 'nothing'],
    ['nothing', 'old'],
  ])(
    'repairs a day that a killed writer left unfinished (its new folder: %s, its old folder: %s)',
    async (arriving, leaving) => {
      const lake = join(directory, `killed-${arriving}-${leaving}`);
      const table = join(lake, 'publisher_events');
      await mkdir(table, { recursive: true });
      for (const [clicks, state] of Object.entries({ 1: leaving, 2: arriving })) {
        const file = `${lake.slice(directory.length + 1)}/publisher_events/.day=2026-01-31.${state}.x/a.parquet`;
        if (state !== 'nothing') await writer.file(file, publisherRecord({ clicks: `${clicks}::BIGINT` }));
      }
      await writer.file('other.parquet', publisherRecord({ event_time: "TIMESTAMP '2026-01-30 10:00:00'" }));
      const { code } = await convert('other.parquet', lake);
      expect(code).toBe(0);
      expect((await readdir(table)).sort()).toEqual(['day=2026-01-30', 'day=2026-01-31']);
      const clicks = arriving === 'whole' ? 2 : 1;
      expect(await daysIn(`killed-${arriving}-${leaving}`)).toMatch(` 31,1,${clicks},`);
    },
  );

  it('writes NULL for a column that a file lacks, and says so', async () => {
    await writer.file('narrow.parquet', publisherRecord({ clicks: undefined, device_or_proxy: undefined }));
    const { code, stdout } = await convert('narrow.parquet', 'narrow');
    const changed =
      'Changed on the way:\n  NULL, since the file has no such column: device_or_proxy, clicks\n';
    expect([code, stdout]).toEqual([0, expect.stringContaining(changed)]);
  });

  describe('refuses its input', () => {
    const NO_PLACEMENT = { placement_id: 'NULL::BIGINT' };
    const TWO = { clicks: '1::BIGINT AS "Click s", 1::BIGINT' };
    const REFUSED: readonly [changed: Record<string, string>, says: RegExp][] = [
      [{ clicks: '-3::BIGINT' }, /clicks: .*"-3" is a count below 0\. Restate/],
      [{ clicks: '[1]' }, /clicks is nested, of which no bigint can be made/],
      [{ device_or_proxy: "'\\xff'::BLOB" }, /device_or_proxy: .* is no UTF-8/],
      [{ container_opens: '2::BIGINT' }, /container_opens: .* is counted on a record with a placement_id/],
      [NO_PLACEMENT, /placement_opens: .* is counted on a record without a placement_id/],
      [TWO, /both could be clicks\. Leave one out/],
    ];

    it('and writes nothing if any value would change, and names all these values at once', async () => {
      await Promise.all(
        REFUSED.map(([changed], index) => writer.file(`refused/${index}.parquet`, publisherRecord(changed))),
      );
      await writer.file('refused/no-table.parquet', 'SELECT 1 AS a');
      await writer.file('refused/no-time.parquet', publisherRecord({ event_time: undefined }));
      const { code, stderr } = await convert('refused', 'none');
      expect(code).toBe(2);
      expect(stderr).toMatch(/^Nothing was written\. \d+ things stand against it:\n/);
      for (const [index, [, says]] of REFUSED.entries()) {
        const line = stderr.split('\n').find((text) => text.includes(`refused/${index}.parquet: `));
        expect(line ?? stderr).toMatch(says);
      }
      const names = 'Give its columns the names that docs/data-contract.md lists';
      expect(stderr).toContain(`no-table.parquet: it has none of the contract's columns, but "a". ${names}`);
      expect(stderr).toMatch(/no-time\.parquet: there is no event_time/);
      await expect(readdir(join(directory, 'none'))).rejects.toThrow('ENOENT');
    });

    it('if a folder has no files', async () => {
      await mkdir(join(directory, 'nothing'));
      const { code, stderr } = await convert('nothing', 'none');
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^There are no files in /)]);
    });

    it('if the sum of an hour is too large for its column', async () => {
      const most = publisherRecord({ revenue: '999999999999.999999::DECIMAL(18,6)' });
      await writer.file('most.parquet', `${most} UNION ALL ${most}`);
      const { code, stderr } = await convert('most.parquet', 'most', '--hourly');
      const says =
        'publisher_events of 2026-01-31: an hour of equal dimensions adds up to more than a column holds.';
      expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    });
  });
});
