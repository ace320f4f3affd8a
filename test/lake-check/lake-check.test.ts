import { copyFile, mkdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tables } from '../../lib/report/tables.ts';
import { publisherRecord, record, writingFolder } from '../tools/make-parquet.ts';
import { type LakeRun, runLake } from '../tools/run-lake.ts';

const DAY = 'publisher_events/day=2026-01-31';

const { folder: directory, writer } = await writingFolder();

/** A kind of fault: how the test makes the fault, and what the check must say about it. */
interface Kind {
  readonly kind: string;
  readonly make: () => Promise<unknown>;
  readonly severity: 'WRONG NUMBERS' | 'REPORTS FAIL' | 'warning' | 'advice';
  /** The path of the fault below the table's folder. */
  readonly path: string;
  readonly says: RegExp;
}

const at = (name: string) => join(directory, DAY, name);
const [WRONG, FAILS, WARNS] = ['WRONG NUMBERS', 'REPORTS FAIL', 'warning'] as const;
/** A record with this value of the column, or with several changed values. Without any, the column is missing. */
const odd = (
  column: string,
  sql: string | undefined | Readonly<Record<string, string>>,
  severity: Kind['severity'],
  says: string,
): Kind => {
  const changed = typeof sql === 'object' ? sql : { [column]: sql };
  const kind = `${column}, ${JSON.stringify(changed)}`;
  const path = `${DAY}/${kind.replaceAll(/\W+/g, '-')}.parquet`;
  const make = () => writer.file(path, publisherRecord(changed));
  return { kind, make, severity, path, says: RegExp(`column {2}${column}\\n {3}found {3}.*${says}`) };
};
/** A file of the day. `make` gets its path on this machine. */
const inDay = (
  name: string,
  severity: Kind['severity'],
  says: RegExp,
  make: (path: string) => Promise<unknown>,
): Kind => ({ kind: name, make: () => make(at(name)), severity, path: `${DAY}/${name}`, says });
/** A record in a place below the table's folder where no engine looks for it. */
const stray = (place: string, says: RegExp): Kind => {
  const path = `publisher_events/${place}`;
  const make = () => writer.file(place.endsWith('/') ? `${path}a.parquet` : path, publisherRecord());
  return { kind: path, make, severity: WRONG, path, says };
};

/** Clicks on a container-level record. */
const COARSER = { placement_id: 'NULL::BIGINT', placement_opens: '0::BIGINT' };

const FUTURE = { event_time: "TIMESTAMP '2999-01-01 00:00:00'" };

const KINDS: readonly Kind[] = [
  stray('ymd=2026-01-31/', /no day has this name/),
  stray('day=2026-02-30/', /no day has this name/),
  stray('day=2026-1-31/', /no day has this name/),
  stray('late.parquet', /lies beside the days/),
  {
    ...stray('day=2999-01-01/', /has not begun/),
    make: () => writer.file('publisher_events/day=2999-01-01/a.parquet', publisherRecord(FUTURE)),
  },
  inDay('events.csv', FAILS, /not a Parquet file.*\n.*\n.*convert/, (path) => writeFile(path, 'a,b\n1,2\n')),
  inDay('empty.parquet', FAILS, /it is empty/, (path) => writeFile(path, '')),
  inDay('once (copy).parquet', WRONG, /records count 2 times/, async (path) => {
    await writer.file(`${DAY}/once.parquet`, publisherRecord({ clicks: '11::BIGINT' }));
    await copyFile(at('once.parquet'), path);
  }),
  inDay('_temporary/0/a.parquet', WARNS, /are left out/, () =>
    writer.file(`${DAY}/_temporary/0/a.parquet`, publisherRecord()),
  ),
  odd('event_time', undefined, WRONG, 'no record has an hour'),
  odd('event_time', 'NULL::TIMESTAMP', WRONG, '1 record without a time'),
  odd('event_time', "TIMESTAMP '2026-02-01 00:00:00'", WRONG, '1 record of another day'),
  odd('event_time', "TIMESTAMP '2026-01-31 12:59:59.9996'", WRONG, 'rounds them into the next hour'),
  odd('event_time', "'2026-01-31 12:00:00'", FAILS, 'it is VARCHAR'),
  odd('revenue', '0.1::DOUBLE', FAILS, 'it is DOUBLE'),
  odd('publisher_account_id', '7::UBIGINT', FAILS, 'it is UBIGINT'),
  odd('publisher_company_id', '[7]', FAILS, 'it is nested'),
  odd('served_ads', '-1::BIGINT', WRONG, '1 record with a count below 0'),
  odd('container_opens', '5::BIGINT', WRONG, 'reports by placement_id leave'),
  odd('placement_opens', { placement_id: 'NULL::BIGINT' }, WRONG, '1 record without a placement_id and with'),
  odd('placement_id', COARSER, WARNS, 'reports by placement_id leave them out'),
  odd('clicks', undefined, WARNS, 'it is missing, which Athena reads as NULL'),
  odd('publisher_company_id', undefined, WARNS, 'no caller who is restricted'),
  odd('publisher_company_id', 'NULL::BIGINT', WARNS, '1 record without a company'),
  inDay(
    'name.parquet',
    WARNS,
    /column {2}clicks\n(.*\n){2} {3}cure {4}The file has click: if that is it, rename it/,
    () => writer.file(`${DAY}/name.parquet`, `SELECT * RENAME (clicks AS click) FROM (${publisherRecord()})`),
  ),
  inDay('twice.parquet', FAILS, /clicks\n {3}found {3}the file holds it more than once/, async (path) => {
    await writer.file(`${DAY}/twice.parquet`, `SELECT *, 1 AS "Xlicks" FROM (${publisherRecord()})`);
    const bytes = await readFile(path, 'latin1');
    await writeFile(path, bytes.replaceAll('Xlicks', 'CLICKS'), 'latin1');
  }),
  inDay('gone.parquet', FAILS, /found {3}the link leads nowhere/, (path) => symlink('nowhere', path)),
  inDay('circle', FAILS, /link to a folder, which DuckDB does not follow here/, (path) =>
    symlink('..', path),
  ),
  inDay('filename.parquet', FAILS, /column {2}filename\n {3}found {3}DuckDB, the engine on one machine/, () =>
    writer.file(`${DAY}/filename.parquet`, `SELECT *, 1 AS filename FROM (${publisherRecord()})`),
  ),
  odd('clicks', '9223372036854775807::BIGINT', FAILS, 'more than 64 bits hold'),
  {
    kind: 'a file that was written after the marker',
    make: async () => {
      await writer.file(
        'advertiser_events/day=2026-01-01/a.parquet',
        record('advertiser_events', { event_time: "TIMESTAMP '2026-01-01 12:00:00'" }),
      );
      await writeFile(join(directory, 'advertiser_events/day=2026-01-01/_SUCCESS'), '');
      await utimes(join(directory, 'advertiser_events/day=2026-01-01/_SUCCESS'), 1, 1);
    },
    severity: WARNS,
    path: 'advertiser_events/day=2026-01-01/a.parquet',
    says: /written after the day's _SUCCESS/,
  },
];

/** The texts of a check's findings. */
const findingsIn = ({ stdout }: LakeRun): string[] =>
  stdout.split(/\n\n/).filter((part) => /^\d+\. /.test(part));

describe('npm run lake -- check', () => {
  let run: LakeRun;
  beforeAll(async () => {
    await mkdir(join(directory, DAY), { recursive: true });
    for (const { make } of KINDS) await make();
    run = await runLake(['check', directory, '--all']);
  });

  it(`finds ${KINDS.length} kinds of fault in one run and says that the reports are not reliable`, () => {
    expect(KINDS.length).toBeGreaterThanOrEqual(25);
    expect(run).toMatchObject({ code: 1 });
    expect(run.stdout).toMatch(
      /Reports will be wrong or fail: \d+ faults\.\nNext: cure them, .*`npm run lake -- check \S+`\n$/,
    );
  });

  it.each(KINDS)(
    'names the fault ($kind), its place, what is needed and the cure',
    ({ severity, path, says }) => {
      const named = findingsIn(run).filter((text) => text.includes(path) && says.test(text));
      expect(named).toHaveLength(1);
      expect(named[0]).toContain(`${severity}: `);
      expect(named[0]).toMatch(/\n {3}needed {2}\S.*\n {3}cure {4}\S/);
    },
  );

  it('names the worst faults first', () => {
    const severities = findingsIn(run).map((text) => /^\d+\. ([A-Za-z ]+): /.exec(text)?.[1]);
    const order = ['WRONG NUMBERS', 'REPORTS FAIL', 'warning', 'advice'];
    expect(severities).toEqual(
      [...severities].sort((a, b) => order.indexOf(a ?? '') - order.indexOf(b ?? '')),
    );
  });

  it('prints less text without --all, but the same number of findings', async () => {
    const { stdout } = await runLake(['check', directory]);
    expect(stdout.length).toBeLessThan(run.stdout.length);
    expect(findingsIn({ ...run, stdout })).toHaveLength(findingsIn(run).length);
  });

  it('finds with --footers all kinds of fault but a few', async () => {
    const footers = await runLake(['check', directory, '--footers']);
    expect(footers.code).toBe(1);
    const texts = findingsIn(footers).map((text) => text.replace('some records', '1 record'));
    const unseen = KINDS.filter(
      ({ path, says }) => !texts.some((text) => text.includes(path) && says.test(text)),
    );
    // Only records show these.
    const columns = ['container_opens', 'placement_opens', 'placement_id', 'publisher_company_id', 'clicks'];
    expect(unseen.map(({ kind }) => kind.split(',')[0])).toEqual(['event_time', ...columns]);
  });
});

describe('npm run lake -- check, on a lake without faults', () => {
  let right: string;
  beforeEach(async () => {
    right = join(directory, 'right');
    await rm(right, { recursive: true, force: true });
    for (const day of ['2026-01-30', '2026-01-31', '2026-02-03'])
      for (const { name } of tables)
        await writer.file(
          `right/${name}/day=${day}/part-0`,
          `SELECT * REPLACE (TIMESTAMP '${day} 00:00:00' AS event_time) FROM (${record(name)})`,
        );
  });

  it('prints days, states, records, files and sizes, and exits with 0', async () => {
    await writeFile(join(right, 'publisher_events/day=2026-01-30/_SUCCESS'), '');
    const { code, stdout } = await runLake(['check', right]);
    expect(stdout).toMatch(
      /publisher_events: 2026-01-30 to 2026-02-03, 3 days \(1 final, 2 open\),\n {4}3 records, 3 files, \d+ kB, 3 row groups\n/,
    );
    expect(stdout).toMatch(/advertiser_events: .*none says whether it is final/);
    expect(stdout).toMatch(/Reports will be right\.\nNext: serve it .*`EVENTS_DIR=\S+ npm start`\n$/);
    expect(code).toBe(0);
  });

  it('says that reports will be right if a file has more columns than the contract', async () => {
    await writer.file(
      'right/publisher_events/day=2026-01-31/more',
      `SELECT *, 'x' AS day, 1 AS path, 2 AS file FROM (${publisherRecord()})`,
    );
    const { code, stdout } = await runLake(['check', right]);
    expect(stdout).toMatch(/4 records, /);
    expect(stdout).toMatch(/Reports will be right\.\nNext: serve it .*`EVENTS_DIR=\S+ npm start`\n$/);
    expect(code).toBe(0);
  });

  it('warns about a day without a marker if a later day has a marker', async () => {
    for (const day of ['2026-01-30', '2026-02-03'])
      await writeFile(join(right, `publisher_events/day=${day}/_SUCCESS`), '');
    const { code, stdout } = await runLake(['check', right]);
    expect(stdout).toMatch(
      /warning: publisher_events\/day=2026-01-31\/\n {3}found {3}no _SUCCESS, though later days/,
    );
    expect(code).toBe(0);
  });

  it('gives advice about files that are small, unsorted or not compressed, or have one large row group', async () => {
    const rows = (select: string) =>
      `SELECT * REPLACE (TIMESTAMP '2026-01-30 12:00:00' AS event_time, ${select}) FROM (${publisherRecord()}), range(600000)`;
    const day = 'right/publisher_events/day=2026-01-30';
    const random =
      '(hash(range) % 1000000)::BIGINT AS container_id, (hash(range + 7) % 1000000)::BIGINT AS placement_id';
    await writer.file(`${day}/one-group`, rows(random), 'FORMAT parquet, ROW_GROUP_SIZE 1000000');
    const companies = `(hash(range) % 50)::BIGINT AS publisher_company_id, ${random}`;
    await writer.file(`${day}/unsorted`, rows(companies), 'FORMAT parquet, ROW_GROUP_SIZE 100000');
    await writer.file(`${day}/plain`, rows(random), 'FORMAT parquet, COMPRESSION uncompressed');
    for (let index = 0; index < 12; index++) {
      const clicks = `SELECT * REPLACE (${index} ::BIGINT AS clicks) FROM (${publisherRecord()})`;
      await writer.file(`right/publisher_events/day=2026-01-31/${index}`, clicks);
    }
    const { stdout } = await runLake(['check', right]);
    expect(stdout).toMatch(/advice: .*one-group\n {3}found {3}they are one row group each/);
    expect(stdout).toMatch(
      /advice: .*unsorted\n {3}column {2}publisher_company_id\n {3}found {3}its values are spread/,
    );
    expect(stdout).toMatch(/advice: .*plain\n {3}found {3}they are not compressed/);
    expect(stdout).toMatch(/found {3}1 day with many small files/);
  });
});

describe('npm run lake -- check, on single records', () => {
  const times = (...texts: string[]) => texts.map((text) => ({ event_time: `TIMESTAMPTZ '${text}'` }));
  const FILES: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
    plain: times('2026-01-31 00:00:00+00', '2026-01-31 23:59:59.999+00'),
    days: [
      ...times('2026-01-30 23:59:59.999+00', '2026-01-31 00:00:00+00', '2026-02-01 00:00:00+00', 'infinity'),
      { event_time: 'NULL::TIMESTAMPTZ' },
    ],
    rounded: times(
      ...['2026-01-31 12:59:59.999499+00', '2026-01-31 12:59:59.9995+00', '2026-01-31 23:59:59.9995+00'],
    ),
  };

  it('counts the faulty records of each file that has some', async () => {
    for (const [name, records] of Object.entries(FILES))
      await writer.file(`records/${DAY}/${name}.parquet`, records.map(publisherRecord).join(' UNION ALL '));
    const { stdout } = await runLake(['check', join(directory, 'records')]);
    const counted =
      /: \S*?([a-z]+)\.parquet\n {3}column {2}(\S+)\n {3}found {3}(\d+ records? (?:with\w*|\w+))/;
    const found = findingsIn({ code: 1, stdout, stderr: '' }).map((text) =>
      counted.exec(text)?.slice(1).join(' '),
    );
    expect(found.filter(Boolean).sort()).toEqual([
      ...['days event_time 1 record without', 'days event_time 3 records of'],
      'rounded event_time 2 records finer',
    ]);
  });
});

describe('npm run lake, on a file or folder that is not a whole lake', () => {
  const no = (name: string) => join(directory, 'no', name);
  beforeAll(async () => {
    await writer.file('no/pandas.parquet', publisherRecord());
    await writer.file('no/files/a.parquet', publisherRecord());
    for (const { name } of tables)
      if (name !== 'advertiser_events')
        await writer.file(`no/lake/${name}/day=2026-01-31/a.parquet`, record(name));
    await writeFile(no('events.csv'), 'a,b\n1,2\n');
    await writeFile(no('notes'), '');
    await mkdir(no('empty'));
    await mkdir(no('lake/advertiser_events'));
  });

  it.each([
    ['pandas.parquet', 'a Parquet file', 'pandas-lake'],
    ['events.csv', 'a CSV file', 'events-lake'],
    ['notes', 'a file', 'notes-lake'],
  ])('check says that %s is %s, and how to convert it', async (name, kind, lake) => {
    const stderr = `${no(name)} is ${kind}, not a folder with a lake. Make a lake of it: \`npm run lake -- convert ${no(name)} --to ${no(lake)}\`\n`;
    expect(await runLake(['check', no(name)])).toEqual({ code: 2, stdout: '', stderr });
  });

  it.each([
    ['files', 'here is a.parquet', () => `convert ${no('files')} --to ${no('files-lake')}`],
    ['empty', 'there are no files', () => `init ${no('empty')}`],
    ['lake/publisher_events', 'this is a part of a lake', () => `check ${no('lake')}`],
  ])('check says of the folder %s: "%s", and names the command that helps', async (name, found, command) => {
    const { code, stdout } = await runLake(['check', no(name)]);
    const folders = tables.map((table) => `${table.name}/\n   `).join('');
    expect(stdout).toContain(`REPORTS FAIL: ${folders}found   none of these is here`);
    expect(stdout).toContain(found);
    expect(stdout.trimEnd().split('\n').slice(-2)).toEqual([
      'Reports will be wrong or fail: 1 fault.',
      expect.stringContaining(`\`npm run lake -- ${command()}\``),
    ]);
    expect(code).toBe(1);
  });

  it('check says what callers get if a lake lacks one of the tables, and exits with 0', async () => {
    const { code, stdout } = await runLake(['check', no('lake')]);
    expect(stdout).toContain(
      'warning: advertiser_events/\n   found   it does not exist: advertiserperformance answers 404 no-records\n',
    );
    expect(stdout).toMatch(/Reports will be right; 1 warning: .*\nNext: .*\n$/);
    expect(code).toBe(0);
  });

  it('init makes a lake in a new folder, and a table in an empty folder of a lake', async () => {
    const made = tables.map(({ name }) => `Made ${name}, empty.\n`).join('');
    expect((await runLake(['init', no('new')])).stdout).toBe(
      `Made the folder ${no('new')}, which did not exist.\n${made}Next: \`npm run lake -- check ${no('new')}\`\n`,
    );
    expect((await runLake(['init', no('lake')])).stdout).toMatch(/^Made advertiser_events, empty\.\nNext: /);
  });

  it.each([
    ['pandas.parquet', /is a file, and a lake is a folder\. .*`npm run lake -- convert /],
    ['lake/publisher_events', /is a part of the lake .*no\/lake\. .*`npm run lake -- init \S*no\/lake`/],
    ['lake/publisher_events/day=2026-01-31/', /is a part of the lake .*no\/lake\. /],
  ])('init refuses %s, and says why', async (name, says) => {
    const { code, stderr, stdout } = await runLake(['init', no(name)]);
    expect(stderr).toMatch(says);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});

describe('npm run lake, with wrong parameters', () => {
  it('convert names a target that it can’t write, and input files that it can’t read or convert', async () => {
    await writer.file('input/a.parquet', publisherRecord());
    const input = join(directory, 'input');
    const nowhere = await runLake(['convert', input, '--to', join(input, 'a.parquet')]);
    const unwritten = expect.stringMatching(/^.*a\.parquet can't be written \(it is no folder\)/);
    expect(nowhere).toMatchObject({ code: 2, stderr: unwritten });
    await symlink('nowhere', join(input, 'b.parquet'));
    const { code, stderr } = await runLake(['convert', input, '--to', join(directory, 'output')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /One thing stands against it:\n.*b\.parquet can't be read: the link leads nowhere\n/,
    );
  });

  it.each([
    [['check'], /npm run lake -- check/],
    [['polish', 'x'], /npm run lake -- check/],
    [
      ['check', '/nowhere/at/all'],
      /^\/nowhere\/at\/all does not exist; needed: a folder with publisher_events/,
    ],
    [['check', 's3:///x'], /^s3:\/\/\/x names no bucket/],
    [['check', 'x', '--fast'], /--fast/],
  ])('explains without a stack trace what is wrong with %s, and exits with 2', async (parameters, says) => {
    const { code, stderr } = await runLake(parameters);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(code).toBe(2);
  });
});
