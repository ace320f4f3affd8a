import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../local/serve.ts';
import {
  CONNECTOR,
  connectorPython,
  endOf,
  environmentOf,
  printedCommands,
  type Ran,
  startProgram,
} from './dlt-connector.ts';
import { FIELDS } from './restated-service.ts';
import { itStaysEqual } from './restatements-and-kills.ts';
import { type Change, type Scene, startScene } from './scene.ts';

const execute = promisify(execFile);
const python = (await connectorPython()) ?? '';
const TABLE = 'performance_reports.publisherperformance';

let scene: Scene;

describe.skipIf(!python)('connectors/dlt', () => {
  beforeAll(async () => {
    scene = await startScene(python, 90);
  });
  afterAll(() => scene.close());

  const run = (database: string, changes?: Change): Promise<Ran> =>
    scene.connector.run(scene.argv(database, changes));

  /** The window of a few days, which the connector pulls in a second. */
  const few = (from = 0, count = 5): Change => ({
    start: scene.service.days[from] as string,
    end: scene.service.days[from + count] as string,
  });

  /** Runs the command in a process of its own, as another client or with other variables. */
  const runWith = (changed: Readonly<Record<string, string>>, database: string, changes = few()) => {
    const environment = { ...scene.environment, ...changed };
    return endOf(
      startProgram(python, environment, 'performance-reports-sync', scene.argv(database, changes)),
    );
  };
  async function pulls(database: string, changes: Change, pulled: number, removed = 0): Promise<void> {
    expect(await run(database, changes)).toMatchObject({ code: 0, pulled, removed });
  }
  const change = (database: string, sql: string) =>
    execute(python, ['-c', `import duckdb; duckdb.connect('${database}').execute("${sql}")`]);
  const asClient = (name: string) => {
    const { clientId, clientSecret } = scene.service.clients.find(({ clientId }) => clientId === name) ?? {};
    return { CLIENT_ID: String(clientId), CLIENT_SECRET: String(clientSecret) };
  };
  /** Runs the command, and kills it at the step: `merge`, when the table has the new rows, or `staging`, before that. */
  async function die(database: string, changes: Change, step: 'staging' | 'merge' = 'merge'): Promise<void> {
    const child = startProgram(python, scene.environment, 'die.py', [step, ...scene.argv(database, changes)]);
    expect(await endOf(child)).toMatchObject({ signal: 'SIGKILL' });
  }

  async function rowsOf(database: string): Promise<Record<string, number>> {
    const sql = `SELECT day, COUNT(*) FROM ${TABLE} GROUP BY day ORDER BY day`;
    const rows = await scene.connector.select(database, sql);
    return Object.fromEntries(rows.map(([day = '', count]) => [day.slice(0, 10), Number(count)]));
  }

  it('pulls and shows the days with the exact commands of its page, in an American time zone', async () => {
    const [install = '', sync = '', show = ''] = await printedCommands();
    const cwd = join(scene.home, 'page');
    await mkdir(cwd);
    // The first command has already run, to install `python`. Only its activation of the environment is repeated.
    const activate = / (\. reports\/bin\/activate) /.exec(install)?.[1];
    await symlink(join(python, '../..'), join(cwd, 'reports'));
    const { PATH: _, ...environment } = environmentOf(python, scene.environment);
    const env = { ...environment, PATH: String(process.env['PATH']), TZ: 'America/New_York' };
    const shell = async (command: string) =>
      (await execute('sh', ['-ec', `${activate}\n${command}`], { cwd, env })).stdout;
    const days = scene.service.days.filter((day) => day >= '2026-01-01');
    expect(await shell(sync)).toMatch(/^29 days, 29 of them pulled, 0 removed, \d+ bytes\n$/);
    // DuckDB shows ten rows from the start and ten from the end.
    const shown = [...days.slice(0, 10), ...days.slice(-10)];
    expect((await shell(show)).match(/\d{4}-\d\d-\d\d/g)).toEqual(shown);
    const page = await readFile(join(CONNECTOR, 'README.md'), 'utf8');
    for (const name of ['sync.py', 'show_state.py']) {
      const [, program = ''] = RegExp(`^\`\`\`python ${name}\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
      const { stdout } = await execute(python, ['-c', program], { cwd, env });
      expect(stdout).toContain(name === 'sync.py' ? 'pulled=29' : '"2026-01-29": {');
    }
    const [, sql = ''] = /^```sql\n(.*?)^```/ms.exec(page) ?? [];
    const program = `
import duckdb, sys
for [day] in duckdb.connect('reports.duckdb').sql(sys.argv[1]).project('day').fetchall(): print(day)`;
    const { stdout } = await execute(python, ['-c', program, sql], { cwd, env });
    expect(stdout.trim().split('\n')).toEqual(days);
  });

  it('stores exact types, and stores an empty text as a text, not as NULL', async () => {
    const { databaseOf, connector } = scene;
    const database = databaseOf('types');
    const changes = { ...few(), fields: ['DateTime', ...FIELDS] };
    await run(database, changes);
    await scene.expectEqual(database, changes);
    const columns = await connector.select(
      database,
      `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'publisherperformance' AND table_schema = 'performance_reports'`,
    );
    const [time, integer, text] = ['TIMESTAMP WITH TIME ZONE', 'BIGINT', 'VARCHAR'];
    expect(Object.fromEntries(columns)).toEqual({
      ...{ date_time: time, day: time, placement_id: integer, device_or_proxy: text, served_ads: integer },
      ...{ opens: integer, clicks: integer, revenue: 'DECIMAL(38,6)', _data_version: text },
      ...{ _deleted: 'BOOLEAN', _dlt_load_id: text },
    });
    const texts = `SELECT DISTINCT device_or_proxy IS NULL, device_or_proxy = '', device_or_proxy = 'NULL' FROM ${TABLE} ORDER BY ALL`;
    expect(await connector.select(database, texts)).toEqual([
      ['False', 'False', 'False'],
      ['False', 'False', 'True'],
      ['False', 'True', 'False'],
      ['True', 'None', 'None'],
    ]);
  });

  itStaysEqual(python, () => scene, { restatements: 30, kills: 3 });

  describe('the run after a killed run', () => {
    it('pulls the days again, although dlt would load what the killed run had staged', async () => {
      const database = scene.databaseOf('staged');
      await pulls(database, few(20, 10), 10);
      for (const day of scene.service.days.slice(20, 30)) await scene.service.restate(day);
      await die(database, few(20, 10), 'staging');
      await pulls(database, few(20, 10), 10);
      await scene.expectEqual(database, few(20, 10));
    });

    it('pulls again the days that the killed run was loading, even if its own window starts later, and keeps the other days', async () => {
      const { service, databaseOf } = scene;
      const database = databaseOf('later-start');
      const [first = '', second = ''] = service.days.slice(70);
      await pulls(database, few(70), 5);
      for (const day of [first, second]) await service.restate(day);
      await die(database, few(70));
      await pulls(database, few(72, 3), 2);
      await scene.expectEqual(database, few(70));
      await pulls(database, few(70), 0);
    });

    it('keeps the rows of a final day that was opened again, if both runs have --only-final', async () => {
      const { service, databaseOf } = scene;
      const database = databaseOf('killed-only-final');
      const onlyFinal: Change = { ...few(70), options: ['--only-final'] };
      const [day = ''] = service.days.slice(70);
      await pulls(database, onlyFinal, 5);
      await service.restate(day);
      await die(database, onlyFinal);
      const before = await rowsOf(database);
      await service.restate(day, { isFinal: false });
      await pulls(database, onlyFinal, 0);
      expect(await rowsOf(database)).toEqual(before);
      await service.restate(day);
      await pulls(database, onlyFinal, 1);
      await scene.expectEqual(database, few(70));
    });
  });

  it('pulls everything again for another client or with --again', async () => {
    const database = scene.databaseOf('other-client');
    await pulls(database, few(), 5);
    await pulls(database, { ...few(1, 2), options: ['--again'] }, 2);
    await scene.expectEqual(database, few());
    const other = await runWith(asClient('publisher-one'), database);
    expect(other).toMatchObject({ code: 0, output: expect.stringContaining('5 of them pulled') });
    await pulls(database, few(), 5);
    await scene.expectEqual(database, few());
  });

  it('makes a dropped table again, and says that the load failed if a column is missing', async () => {
    const database = scene.databaseOf('dropped');
    await run(database, few());
    await change(database, `ALTER TABLE ${TABLE} DROP COLUMN revenue`);
    await scene.service.restate(scene.service.days[0] as string);
    for (const raises of ['true', 'false']) {
      const { code, output } = await runWith({ LOAD__RAISE_ON_FAILED_JOBS: raises }, database);
      expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/^The load failed: .*\n$/) });
    }
    await change(database, `DROP TABLE ${TABLE}`);
    await pulls(database, few(), 5);
    await scene.expectEqual(database, few());
    await pulls(database, few(), 0);
  });

  describe('--only-final', () => {
    const onlyFinal = (): Change => ({ ...few(40), options: ['--only-final'] });

    it('pulls a day once it is final, and keeps its last final version if the day is opened again', async () => {
      const { service, databaseOf } = scene;
      const database = databaseOf('only-final');
      const [day = '', next = ''] = service.days.slice(42);
      await service.restate(day, { isFinal: false });
      await pulls(database, onlyFinal(), 4);
      expect(Object.keys(await rowsOf(database))).not.toContain(day);
      await service.restate(day);
      await pulls(database, onlyFinal(), 1);
      await scene.expectEqual(database, few(40));
      const before = await rowsOf(database);
      await service.restate(next, { isFinal: false });
      await pulls(database, onlyFinal(), 0);
      expect(await rowsOf(database)).toEqual(before);
      await service.takeBack(next);
      await pulls(database, onlyFinal(), 0, 1);
      await service.restate(next);
    });

    it('does not load a day that is opened again while it is pulled', async () => {
      const { service, databaseOf } = scene;
      const database = databaseOf('opened-while-pulled');
      const [day = ''] = service.days.slice(40);
      service.beforeNextReport(() => service.restate(day, { isFinal: false }));
      const again = { code: 1, output: expect.stringContaining(`run again: ${day}`) };
      expect(await run(database, onlyFinal())).toMatchObject(again);
      expect(Object.keys(await rowsOf(database))).toEqual(service.days.slice(41, 45));
      await service.restate(day);
      service.beforeNextReport(() => service.restate(day));
      await pulls(database, onlyFinal(), 1);
      await scene.expectEqual(database, few(40));
    });

    it('removes days that are not final from a table that was pulled without it', async () => {
      const { service, databaseOf } = scene;
      const database = databaseOf('first-all');
      const [day = ''] = service.days.slice(41);
      await service.restate(day, { isFinal: false });
      await pulls(database, few(40), 5);
      await pulls(database, onlyFinal(), 4, 1);
      expect(Object.keys(await rowsOf(database))).not.toContain(day);
      await service.restate(day);
    });
  });

  it('pulls everything again for other fields and filters, and leaves no row of the old query', async () => {
    const { databaseOf } = scene;
    const database = databaseOf('other-query');
    await pulls(database, few(0, 6), 6);
    const other: Change = { ...few(1, 4), fields: ['Day', 'Clicks'], filters: [['DeviceOrProxy', 'Mobile']] };
    const words = 'Other fields, filters or client than last time: everything is pulled again.';
    const output = expect.stringContaining(words);
    expect(await run(database, other)).toMatchObject({ code: 0, pulled: 4, removed: 2, output });
    await scene.expectEqual(database, other);
    await pulls(database, other, 0);
    const more: Change = { ...few(0, 6), fields: ['DateTime', ...FIELDS] };
    await pulls(database, more, 6);
    await scene.expectEqual(database, more);
  });

  it('keeps two queries of a report in two tables', async () => {
    const database = scene.databaseOf('two-tables');
    const byDay: Change = { ...few(), fields: ['Day', 'Revenue'], table: 'by_day' };
    for (const changes of [few(), byDay]) expect(await run(database, changes)).toMatchObject({ pulled: 5 });
    for (const changes of [few(), byDay]) {
      expect(await run(database, changes)).toMatchObject({ pulled: 0 });
      await scene.expectEqual(database, changes);
    }
  });

  it('removes a day when no row passes the filters any more, and does not pull it again', async () => {
    const { service, databaseOf } = scene;
    const database = databaseOf('filtered');
    const filtered: Change = { ...few(50), filters: [['DeviceOrProxy', 'Mobile']] };
    const [day = ''] = service.days.slice(51);
    await pulls(database, filtered, 5);
    await service.restate(day, { device: 'Tablet' });
    await pulls(database, filtered, 1, 1);
    expect(Object.keys(await rowsOf(database))).not.toContain(day);
    await scene.expectEqual(database, filtered);
    await pulls(database, filtered, 0);
    await service.restate(day);
    await pulls(database, filtered, 1);
    await scene.expectEqual(database, filtered);
    const none: Change = { ...few(50), filters: [['DeviceOrProxy', 'nobody has this']], table: 'none' };
    await pulls(database, none, 5);
    await pulls(database, none, 0);
  });

  it('pulls a day again if its rows are not those that the state names: fewer, or of another load', async () => {
    const database = scene.databaseOf('meddled');
    await run(database, few());
    const firstDay = `day = (SELECT MIN(day) FROM ${TABLE})`;
    for (const sql of [
      `DELETE FROM ${TABLE} WHERE ${firstDay} AND placement_id % 2 = 0`,
      `UPDATE ${TABLE} SET _dlt_load_id = 'another' WHERE ${firstDay}`,
    ]) {
      await change(database, sql);
      await pulls(database, few(), 1);
      await scene.expectEqual(database, few());
    }
  });

  it('tries again after 503 and 429 but not after 400, and prints the problem when it gives up', async () => {
    const { service, databaseOf } = scene;
    service.refuseReports(2, 503);
    await pulls(databaseOf('refused'), few(), 5);
    service.refuseReports(1, 429);
    await pulls(databaseOf('refused-429'), few(), 5);
    service.refuseReports(5, 503);
    const hint = 'The operator finds this request by urn:uuid:';
    const refusal = `/reporting/publisherperformance: 503 Not now\n  ${hint}1\n`;
    expect(await run(databaseOf('refused-5'), few())).toMatchObject({ code: 1, output: refusal });
    service.takeRequests();
    const filters = Object.entries({ PlacementId: 'x', Clicks: '1' });
    const { code, output } = await run(databaseOf('wrong'), { ...few(), filters });
    const faults = '400 Invalid request\\. .*(\n {2}filter\\[\\w+\\]: .*){2}';
    const problem = RegExp(`^/reporting/publisherperformance: ${faults}\n {2}${hint}[\\w-]+\n$`);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(problem) });
    // A 400 is not tried again.
    expect(service.takeRequests()).toHaveLength(4);
  });

  it.each<[string, Change, RegExp]>([
    ['fields without Day', { fields: ['PlacementId', 'Clicks'] }, /^Add Day to the fields: /],
    [
      'an unknown field',
      { fields: ['Day', 'Click'] },
      /^publisherperformance has no field Click\. It has: DateTime, /,
    ],
    [
      'a database file with the name of the schema',
      { options: ['--dataset', 'faulty'] },
      /^DuckDB can't tell .*faulty\.duckdb from --dataset faulty: give the file another name\.$/m,
    ],
    ...['', '..', 'a/b', '/tmp/a'].map((name): [string, Change, RegExp] => [
      `the pipeline name "${name}", which can’t be the name of a folder`,
      { options: [`--pipeline=${name}`] },
      /^The pipeline's name ".*" must be of letters, digits, _ and -\.$/m,
    ]),
    ['a filter without a value', { options: ['--filter', 'Day'] }, /^--filter Day: write it as FIELD=VALUE/],
    [
      "a destination that can't replace the rows of a day",
      { options: ['--destination', 'filesystem'] },
      /^filesystem can't replace the rows of a day: .*docs\/programs\/incremental_pull\.py/,
    ],
  ])('refuses %s, and says what to change', async (_, changes, message) => {
    const { code, output } = await run(scene.databaseOf('faulty'), changes);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(message) });
    expect(output.trimEnd()).not.toContain('\n');
  });

  /** Runs the program, which tries only once here, since five tries take half a minute. */
  async function runOnce(changed: Readonly<Record<string, string>>, name: string, changes = few()) {
    const program = 'from performance_reports_dlt import command, service; service.TRIES = 1; command.main()';
    const variables = { ...scene.environment, DLT_DATA_DIR: join(scene.home, name), ...changed };
    const argv = ['-c', program, ...scene.argv(scene.databaseOf(name), changes)];
    return execute(python, argv, { env: environmentOf(python, variables) }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stderr }) => ({ code, output: String(stderr) }),
    );
  }

  it.each([
    ['missing variables', { CLIENT_ID: '', SCOPE: '' }, /^Set in the environment: CLIENT_ID, SCOPE\./],
    ['a wrong secret', { CLIENT_SECRET: 'wrong' }, /^The token: 401 invalid_client/],
    [
      'a wrong address',
      { API_URL: 'http://127.0.0.1:1' },
      /^\/reporting\/fields: ConnectionError\. Is the address right/,
    ],
  ])('says what is wrong if it is run with %s', async (_, changed, message) => {
    expect(await runOnce(changed, 'faulty')).toEqual({ code: 1, output: expect.stringMatching(message) });
  });

  /** Runs the program against a server that gives these answers, by path. Resolves to its output and to its requests. */
  async function runAgainst(answers: Record<string, unknown>, window = few()) {
    const asked: string[] = [];
    const { url, close } = await serve((request, response) => {
      const path = request.url?.split('?')[0] ?? '';
      asked.push(`${request.method} ${path}`);
      const answer = path in answers ? answers[path] : path === '/token' ? { access_token: 'x' } : {};
      const [status, body] = Array.isArray(answer) ? answer : [200, answer];
      response.writeHead(status, { location: '/elsewhere' }).end(JSON.stringify(body));
    });
    const { output } = await runOnce({ API_URL: url, TOKEN_URL: `${url}/token` }, 'odd', window);
    await close();
    return { output, asked };
  }
  const fields = { name: 'publisherperformance', fields: FIELDS.map((name) => ({ name, type: 'string' })) };
  const catalogue = { '/reporting/fields': { reports: [fields] } };
  const DAYS = '/reporting/publisherperformance/days';
  const day = { day: '2026-01-01', startInclusive: 'a', endExclusive: 'b', state: 'final', version: 'v' };

  it.each([307, 308])('follows no redirect of the token endpoint: %i', async (status) => {
    const { output, asked } = await runAgainst({ ...catalogue, '/token': [status, {}] });
    expect(output).toBe(`The token: a redirect, ${status}. Set the address that it leads to.\n`);
    expect(asked).toEqual(['GET /reporting/fields', 'POST /token']);
  });

  it.each(['se\ncret', 'se cret', '', 7, { a: 1 }, null])(
    'never quotes an unusable token: %j',
    async (token) => {
      const { output } = await runAgainst({ ...catalogue, '/token': { access_token: token } });
      expect(output).toBe(
        'The token: the answer has no access_token that can be sent. Is TOKEN_URL right?\n',
      );
    },
  );

  it.each<[string, string, unknown]>([
    ['a list of fields', '/reporting/fields', [200, [1]]],
    ['a report without fields', '/reporting/fields', { reports: [{ name: 'a' }] }],
    ['nothing', '/reporting/fields', null],
    ['a list of days', DAYS, [200, ['a']]],
    ['a day that is no object', DAYS, { days: [1] }],
    ['a day that is no date', DAYS, { days: [{ ...day, day: '../x' }] }],
  ])('says in one line that an answer is odd: %s', async (_, path, answer) => {
    const { output } = await runAgainst({ ...catalogue, [path]: answer });
    const words = 'the answer has another form than expected\\. Is the address right\\?';
    expect(output).toMatch(RegExp(`^/reporting/\\S+: ${words}\n$`));
  });

  it('takes a token whose life is no number, and prints no control character of a server', async () => {
    const escapes = '\u001b]0;x\u0007\u202e';
    const tokens = { '/token': { access_token: 'x', expires_in: { a: 1 } } };
    const reports = [{ ...fields, name: escapes }];
    const { output } = await runAgainst({ ...tokens, '/reporting/fields': { reports } });
    expect(output).toBe('There is no report "publisherperformance". There are: \\x1b]0;x\\x07\\u202e.\n');
    const errors = [1, { parameter: escapes }];
    const problem = { title: escapes, detail: 'a\nb', errors, instance: { a: 1 } };
    const refused = await runAgainst({ ...catalogue, [DAYS]: [400, problem] });
    expect(refused.output).toMatch(/: 400 \\x1b\]0;x\\x07\\u202e\. a\\nb\n {2}\\x1b\]0;x\\x07\\u202e: \n/);
  });

  it.each([
    ['2026-02-31', '2026-02-31 does not exist'],
    ['1 May', '1 May is no day of the form 2026-01-01'],
  ])('says what is wrong with --start %s', async (start, fault) => {
    expect((await runAgainst({}, { ...few(), start })).output).toContain(`argument --start: ${fault}`);
  });

  it('says why it fails if the client may see no row of the report', async () => {
    const changed = { ...asClient('nobody'), DLT_DATA_DIR: join(scene.home, 'nobody') };
    const output = expect.stringMatching(RegExp(`^${DAYS}: 401 .*Not authorized to this endpoint`));
    expect(await runWith(changed, scene.databaseOf('nobody'))).toMatchObject({ code: 1, output });
  });

  it('refuses a second run of a pipeline while the first one is under way', async () => {
    const { databaseOf, service } = scene;
    const database = databaseOf('one-at-a-time');
    let second: Ran | undefined;
    service.beforeNextReport(async () => {
      second = await run(databaseOf('the-other'), few());
    });
    expect(await runWith({}, database)).toMatchObject({ code: 0 });
    expect(second).toMatchObject({ code: 1, output: expect.stringMatching(/^Another run of the pipeline/) });
  });

  it('says what to close if another program has the database file open', async () => {
    const database = scene.databaseOf('open-elsewhere');
    await run(database, few());
    const code = `import duckdb; c = duckdb.connect('${database}', read_only=True); print('open', flush=True); input()`;
    const other = spawn(python, ['-c', code], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(other.stdout, 'data');
    const refused = await run(database, few());
    other.stdin.end('\n');
    await once(other, 'exit');
    const output = expect.stringMatching(
      /^performance_reports can't be opened: .*Close other programs that have it open/,
    );
    expect(refused).toMatchObject({ code: 1, output });
    await pulls(database, few(), 0);
  });

  it('writes no token, link or secret to its output, and no token or link to its files', async () => {
    const directory = join(scene.home, 'quiet');
    const changed = { DLT_DATA_DIR: directory, RUNTIME__LOG_LEVEL: 'DEBUG' };
    const secrets = 'X-Amz-Signature|Bearer |eyJ';
    const tracesIn = () => execute('grep', ['-rlaE', secrets, directory]).catch(({ stdout }) => ({ stdout }));
    scene.service.refuseReports(1, 400);
    for (const expected of [1, 0]) {
      const { code, output } = await runWith(changed, scene.databaseOf('quiet'));
      expect(code).toBe(expected);
      expect(output).not.toMatch(RegExp(secrets));
      expect(output).not.toContain(scene.environment['CLIENT_SECRET']);
      expect((await tracesIn()).stdout).toBe('');
    }
    await rm(directory, { recursive: true });
  });

  it('passes mypy', async () => {
    const options = ['--config-file', 'pyproject.toml', '--no-incremental', 'performance_reports_dlt'];
    const { stdout } = await execute(python, ['-m', 'mypy', ...options], { cwd: CONNECTOR });
    expect(stdout).toMatch(/^Success: no issues found/);
  });
});
