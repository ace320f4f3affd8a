import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { metricsOf, ownerOf, type Report, reports } from '../../lib/report/catalogue.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { spawnNode } from '../spawn-node.ts';
import { askEngine } from '../trino/ask-engine.ts';
import type { Case } from '../trino/corpus.ts';
import { publisherRecord, writingFolder } from './make-parquet.ts';
import { plainEvents, writeOddForms } from './odd-forms.ts';
import { runLake } from './run-lake.ts';

const { folder: directory, writer } = await writingFolder();

const WINDOW = { start: '2026-01-29T00:00:00Z', end: '2026-02-02T00:00:00Z' };

/** Questions for every field (so each record is visible), for totals only, and for totals by company and hour. */
const questionsOf = (report: Report): Question[] => {
  const metrics = metricsOf(report).map(({ name }) => name);
  return [
    { ...WINDOW, fields: report.fields.map(({ name }) => name) },
    { ...WINDOW, fields: metrics },
    { ...WINDOW, fields: [ownerOf(report).name, 'DateTime', ...metrics] },
  ];
};

/** The reports of a lake in a folder, made by DuckDB. */
async function openLake(directory: string) {
  const scratch = await mkdtemp(join(tmpdir(), 'lake-reports-'));
  const engine = await duckDbOn(directory)({ database: 'lake', scratchDirectory: scratch });
  return {
    ask: (report: Report, asked: Case) => askEngine(engine, report, asked),
    async [Symbol.asyncDispose]() {
      engine.close();
      await rm(scratch, { recursive: true });
    },
  };
}

async function expectReports(
  lake: string,
  events: Readonly<Record<string, readonly EventRow[]>>,
): Promise<void> {
  await using opened = await openLake(lake);
  for (const report of reports)
    for (const question of questionsOf(report))
      expect(await opened.ask(report, { question })).toBe(
        expectedReport(report.name, events[report.table] ?? [], question),
      );
}

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
  await Promise.race([
    once(holder.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('It has ended'))),
  ]);
  await meanwhile(() => holder.kill('SIGKILL'));
  await ended;
}

/** Converts a file or folder to a lake. Both are paths in the directory. */
const convert = (input: string, lake: string, ...options: readonly string[]) =>
  runLake(['convert', join(directory, input), '--to', resolve(directory, lake), ...options]);

const filesIn = async (folder: string): Promise<string[]> => (await readdir(join(directory, folder))).sort();

describe('npm run lake -- convert', () => {
  const events = plainEvents(15, 600);
  let input: string;
  beforeAll(async () => {
    input = await writeOddForms(writer, join(directory), events);
  });

  it.each([
    ['as they are', []],
    ['summed by the hour', ['--hourly']],
  ])(
    'converts files of many forms to a lake (records %s) whose reports equal an independent calculation',
    async (name, options) => {
      const lake = join(directory, `lake ${name}`);
      const { code, stdout, stderr } = await runLake(['convert', input, '--to', lake, ...options]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const clicks = (events['publisher_events'] ?? []).reduce(
        (sum, row) => sum + BigInt(row['clicks'] ?? 0),
        0n,
      );
      expect(stdout.split('\n').slice(0, 2)).toEqual([
        expect.stringMatching(
          /^publisher_events in .*: 2 days \(2026-01-30 to 2026-01-31, final\), 600 records/,
        ),
        expect.stringMatching(RegExp(`^  Sums, .* clicks ${clicks}, revenue `)),
      ]);
      expect(stdout).not.toMatch(/SELECT|COPY/);
      await expectReports(lake, events);

      const checked = await runLake(['check', lake]);
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
    expect(stdout).toContain(
      `\nNext: npm run lake -- init '${inShell}' makes ${others.join(' and ')} empty, which the lake lacks; then npm run lake -- check '${inShell}'\n`,
    );
    await runLake(['init', lake]);
    const again = await convert('next.parquet', lake, '--replace');
    expect(again.stdout).toContain(
      `\nNext: npm run lake -- check '${inShell}', then EVENTS_DIR='${inShell}' npm start\n`,
    );
  });

  it('removes the unfinished files of a killed conversion, and refuses to run during another conversion', async () => {
    const lake = join(directory, 'shared');
    await writer.file('shared.parquet', publisherRecord());
    const killed = join(lake, '.lake-work-killed');
    const running = join(lake, '.lake-work-running');
    const begun = join(lake, '.lake-work-begun');
    for (const folder of [killed, running, begun]) await mkdir(folder, { recursive: true });
    await holdLock(killed, (kill) => kill());
    const hourAgo = new Date(Date.now() - 3_600_000);
    await utimes(killed, hourAgo, hourAgo);
    await holdLock(running, async (kill) => {
      const { code, stderr } = await convert('shared.parquet', lake);
      expect(stderr).toMatch(
        /^Another command writes into \S*shared at present\. Run this one when that has ended\.\n$/,
      );
      expect(code).toBe(2);
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
    await writer.file(
      'sorting/in.parquet',
      `SELECT * REPLACE ((hash(range) % 40)::BIGINT AS publisher_company_id, range AS container_id) FROM (${publisherRecord()}), range(50000)`,
    );
    await convert('sorting/in.parquet', 'sorted');
    const [first] = await filesIn('sorted/publisher_events/day=2026-01-31').then((names) =>
      names.filter((name) => name.endsWith('.parquet')),
    );
    const groups = await writer.rows(
      `SELECT stats_min::BIGINT, stats_max::BIGINT, compression FROM parquet_metadata('${join(directory, 'sorted/publisher_events/day=2026-01-31', String(first))}')
       WHERE path_in_schema = 'publisher_company_id' ORDER BY row_group_id`,
    );
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
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /Nothing was written: .* holds files of these days: publisher_events 2026-01-31\. Say --replace/,
    );
    const replaced = await convert('one.parquet', lake, '--replace', '--open');
    expect(replaced.code).toBe(0);

    await using opened = await openLake(lake);
    const question = { ...WINDOW, fields: ['Day', 'Clicks'] };
    expect(await opened.ask(reports[0] as Report, { question })).toBe(
      '"Day","Clicks"\n"2026-01-30T00:00:00Z",1\n"2026-01-31T00:00:00Z",3\n',
    );
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
      const day = (clicks: string) =>
        writer.file(`made/${clicks}.parquet`, publisherRecord({ clicks: `${clicks}::BIGINT` }));
      for (const [state, clicks] of [
        [leaving, '1'],
        [arriving, '2'],
      ] as const) {
        if (state === 'nothing') continue;
        await day(clicks);
        await mkdir(join(table, `.day=2026-01-31.${state}.x`));
        await rename(
          join(directory, `made/${clicks}.parquet`),
          join(table, `.day=2026-01-31.${state}.x`, 'a.parquet'),
        );
      }
      await writer.file('other.parquet', publisherRecord({ event_time: "TIMESTAMP '2026-01-30 10:00:00'" }));
      const { code } = await convert('other.parquet', lake);
      expect(code).toBe(0);
      expect((await readdir(table)).sort()).toEqual(['day=2026-01-30', 'day=2026-01-31']);
      await using opened = await openLake(lake);
      const question = { start: '2026-01-31T00:00:00Z', end: '2026-02-01T00:00:00Z', fields: ['Clicks'] };
      expect(await opened.ask(reports[0] as Report, { question })).toBe(
        `"Clicks"\n${arriving === 'whole' ? 2 : 1}\n`,
      );
    },
  );

  it('writes NULL for a column that a file lacks, and says so', async () => {
    await writer.file('narrow.parquet', publisherRecord({ clicks: undefined, device_or_proxy: undefined }));
    const { code, stdout } = await convert('narrow.parquet', 'narrow');
    expect(stdout).toMatch(
      /Changed on the way:\n {2}NULL, since the file has no such column: device_or_proxy, clicks\n/,
    );
    expect(code).toBe(0);
  });

  describe('refuses its input', () => {
    const NO_PLACEMENT = { placement_id: 'NULL::BIGINT' };
    const TWO = { clicks: '1::BIGINT AS "Click s", 1::BIGINT' };
    const REFUSED: readonly [changed: Record<string, string>, says: RegExp][] = [
      [{ container_id: '7.5::DOUBLE' }, /container_id: .*"7\.5" is no whole number/],
      [{ clicks: '-3::BIGINT' }, /clicks: .*"-3" is a count below 0\. Restate/],
      [{ event_time: 'NULL::TIMESTAMP' }, /event_time: in 1 record, it is missing\. Fill it in/],
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
      expect(stderr).toMatch(
        /no-table\.parquet: it has none of the contract's columns, but "a"\. Give its columns the names that docs\/data-contract\.md lists/,
      );
      expect(stderr).toMatch(/no-time\.parquet: there is no event_time/);
      await expect(readdir(join(directory, 'none'))).rejects.toThrow('ENOENT');
    });

    it('if a folder has no files', async () => {
      await mkdir(join(directory, 'nothing'));
      const { code, stderr } = await convert('nothing', 'none');
      expect(stderr).toMatch(/^There are no files in /);
      expect(code).toBe(2);
    });

    it('if the sum of an hour is too large for its column', async () => {
      const most = publisherRecord({ revenue: '999999999999.999999::DECIMAL(18,6)' });
      await writer.file('most.parquet', `${most} UNION ALL ${most}`);
      const { code, stderr } = await convert('most.parquet', 'most', '--hourly');
      expect(stderr).toMatch(
        /^publisher_events of 2026-01-31: an hour of equal dimensions adds up to more than a column holds\./,
      );
      expect(code).toBe(2);
    });
  });
});
