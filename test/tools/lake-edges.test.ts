import { execFileSync } from 'node:child_process';
import { copyFile, link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureColumns } from '../../lake-check/report-columns.ts';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { differingDialects } from './csv-dialects.ts';
import { publisherRecord, writingFolder } from './make-parquet.ts';
import { type LakeRun, runLake, runLakeExactly } from './run-lake.ts';

const { folder: home, writer } = await writingFolder();

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), content);
}

let lakes = 0;

/** Converts inputs, which are paths in `home`, into a new lake. */
async function convert(inputs: readonly string[], ...options: readonly string[]): Promise<LakeRun> {
  const paths = inputs.map((input) => join(home, input));
  const run = await runLake(['convert', ...paths, '--to', join(home, `lake-${++lakes}`), ...options]);
  return { ...run, stderr: run.stderr.replaceAll(`${home}/`, '') };
}

const valuesOf = async (sql: string) => {
  const files = `${home}/lake-${lakes}/publisher_events/*/*.parquet`;
  return (await writer.rows(`SELECT ${sql} FROM '${files}' ORDER BY ALL`)).map((row) => row.join('|'));
};
/** As `convert`. The files do not tell their table. */
const convertEvents = (inputs: readonly string[], ...options: readonly string[]) =>
  convert(inputs, '--table', 'publisher_events', ...options);

const TIME = '2026-01-31T10:00:00Z';
const HEAD = 'event_time,device_or_proxy,served_ads\n';

describe('a CSV file', () => {
  it.each([
    ['quotes inside of a field without quotes', `${HEAD}${TIME},a 5" x,1\n`, 'a 5" x'],
    ['a BOM and quotes', `\ufeff"event_time","device_or_proxy"\r\n${TIME},"a ""b"""\r\n`, 'a "b"'],
    ['line breaks in quotes', `${HEAD}${TIME},"a\r\nb\n,c",1\n`, 'a\r\nb\n,c'],
    ['no line break at its end', `${HEAD}${TIME},a,1`, 'a'],
    ['CR as the end of lines', `${HEAD}${TIME},a,1\n`.replaceAll('\n', '\r'), 'a'],
    ['semicolons; commas in names', `event_time;device_or_proxy;served_ads;"a,b"\n${TIME};x,y;1;2\n`, 'x,y'],
    ['a line of three megabytes', `${HEAD.trim()},note\n${TIME},a,1,${'x'.repeat(3_000_000)}\n`, 'a'],
    ['gzip without its suffix', gzipSync(`${HEAD}${TIME},a,1\n`), 'a'],
    [
      'quotes that first come after 20,480 records',
      `${HEAD}${`${TIME},a,0\n`.repeat(21_000)}${TIME},"a",1\n`,
      `${'a,'.repeat(21_000)}a`,
    ],
    ['two columns of one name that are not read', `x,x,${HEAD}1,2,${TIME},a,1\n`, 'a'],
  ])('is read with %s as it is', async (_, text, values) => {
    await write('read.csv', text);
    const { stderr } = await convertEvents(['read.csv']);
    expect(stderr).toBe('');
    expect((await valuesOf('device_or_proxy')).join()).toBe(values);
  });

  const REFUSED = {
    'it begins with two byte order marks. Remove one: tail -c +4 ': `\ufeff\ufeff${HEAD}${TIME},a,1\n`,
    'line 25002 ends with CR LF, and the lines before it end with LF': `${HEAD}${`${TIME},a,1\n`.repeat(25_000)}${TIME},a,1\r\n`,
    'line 2 has a quote inside a text in quotes': `${HEAD}${TIME},"say \\"hi\\"",1\n`,
    'line 3 has a quote inside a text in quotes': `${HEAD}${TIME},a,1\n${TIME},"a" b,1\n`,
    'line 2 has spaces before a text in quotes': `${HEAD}${TIME}, "a",1\n`,
    'line 2 opens a quote that never ends': `${HEAD}${TIME},"a,1\n${TIME},b,1\n`,
    'line 2 has 4 fields, and the first line names 3': `${HEAD}${TIME},a,1,\n`,
    'line 2 opens a quote that ends on a later line, with separators between':
      `${HEAD}${TIME},"foo,1\n${TIME},bar",1\n`.replaceAll(',', '\t'),
    'its first line has several separators. Say --separator comma or semicolon\n': `event_time;x,served_ads\n${TIME},1\n`,
    'its first line has several separators. Say --separator comma or semicolon or tab or pipe': `event_time;\n${TIME}\n`,
    'line 3 has 4 fields, and the first line names 3: "event_time,x,y,z". Write the header first': `${HEAD}${TIME},a,1\nevent_time,x,y,z\n`,
    'line 3 has 1 field, and the first line names 3: "# all"': `${HEAD}${TIME},a,1\n# all\n`,
    'its columns clicks and Clicks have one name. Leave one out, or name it otherwise': `event_time,clicks,Clicks\n${TIME},1,2\n`,
    'it is no whole gzip file (unexpected end of file). Copy it again from its source': gzipSync(
      HEAD,
    ).subarray(0, -8),
    'it is empty': '',
  };
  it.each(Object.entries(REFUSED))('is refused with the reason: %s', async (says, text) => {
    await write('refused.csv', text);
    const { code, stderr } = await convertEvents(['refused.csv']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`refused.csv can't be read: ${says}`)]);
  });

  it('that is not in UTF-8 is refused with the line', async () => {
    await write('latin.csv', Buffer.from(`${HEAD}${TIME},caf\xe9,1\n`, 'latin1'));
    const { stderr } = await convertEvents(['latin.csv']);
    expect(stderr).toContain(
      "latin.csv: it can't be read whole: line 2 is no UTF-8. Write the file in UTF-8",
    );
  });

  it('that fails at its end leaves nothing staged: the faults of other files are told too', async () => {
    const days = Array.from({ length: 300_000 }, (_, n) => `2026-01-${10 + (n % 2)}T10:00:00Z,a,1\n`);
    await write(
      'late/a.csv',
      Buffer.concat([Buffer.from(HEAD + days.join('')), Buffer.from(`${TIME},\xe9,1\n`, 'latin1')]),
    );
    await write('late/b.csv', `${HEAD}${TIME},a,1.5\n`);
    const { stderr } = await convertEvents(['late']);
    expect(stderr).toContain("late/a.csv: it can't be read whole: line 300002 is no UTF-8");
    expect(stderr).toContain('late/b.csv: served_ads: in 1 record, "1.5" is no whole number');
  });

  it.each([
    ['130,000 texts with a record inside', 'note', 10, 130_000, '\nnote,phone,5,T\nx', '130001|0'],
    ['240,000 texts that begin with a quote', 'note', 5, 240_000, '""\na', '240001|0'],
  ])('of more than 8 MB is read as it is: %s', async (_, name, before, count, text, expected) => {
    const record = `"${text.replace('T', TIME)}",phone,0,${TIME}\n`;
    const head = `${name},device_or_proxy,served_ads,event_time\n${'p'.repeat(before)},phone,0,${TIME}\n`;
    await write('texts.csv', head + record.repeat(count));
    const { stderr } = await convertEvents(['texts.csv']);
    expect(stderr).toBe('');
    expect(await valuesOf('count(*)::INTEGER, sum(served_ads)::INTEGER')).toEqual([expected]);
  });

  it('takes the separator that is said, and then RFC 4180 for tabs too', async () => {
    await write('said.tsv', `${HEAD}${TIME},"a,\n,b",1\n`.replaceAll(',', '\t'));
    expect((await convertEvents(['said.tsv'], '--separator', 'tab')).stderr).toBe('');
    expect(await valuesOf('device_or_proxy')).toEqual(['a\t\n\tb']);
    const { stderr } = await convert(['said.tsv'], '--separator', 'dot');
    expect(stderr).toBe('--separator is "dot"; it can be comma, semicolon, tab, pipe\n');
  });
});

// test/sources reads ten thousand.
it('CSV files of 120 dialects are read unchanged, or refused', async () => {
  const { differing, read, refused } = await differingDialects(120, 2);
  expect(differing).toEqual([]);
  expect(Math.min(read, refused)).toBeGreaterThan(12);
});

describe('a file of another format', () => {
  const bytes = (hex: string, rest = '') =>
    Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(rest.padEnd(600))]);
  const json = `{"event_time": "${TIME}", "clicks": 1}\n`;

  it.each([
    ['an Arrow file (Feather)', bytes('4152524f57310000')],
    ['an Arrow stream', bytes('ffffffff78010000')],
    ['an ORC file', bytes('4f5243')],
    ['an Avro file', bytes('4f626a01')],
    ['an Excel workbook (xlsx)', bytes('504b0304', 'x[Content_Types].xml')],
    ['an Excel workbook (xls)', bytes('d0cf11e0a1b11ae1')],
    ['a zip archive', bytes('504b0304', 'events.csv')],
    ['an xz file', bytes('fd377a585a00')],
    ['a bzip2 file', bytes('425a6839314159265359')],
    ['a Zstandard file', zstdCompressSync(HEAD)],
    ['JSON', Buffer.from(json)],
    ['JSON', Buffer.from(`[${json}]`)],
    ['JSON', gzipSync(json)],
    ['text in UTF-16', Buffer.from(`\ufeff${HEAD}`, 'utf16le')],
    ['text in UTF-16', Buffer.from(HEAD, 'utf16le')],
    ['a tar archive', bytes('', `${'events.csv'.padEnd(257)}ustar`)],
    ['HTML or XML', Buffer.from('<!DOCTYPE html><p>Not found')],
  ])('is told what it is, and what to do: %s', async (format, content) => {
    await write('foreign (1).csv', content);
    const { code, stderr } = await convert(['foreign (1).csv']);
    expect(code).toBe(2);
    expect(stderr).toContain(`foreign (1).csv can't be read: it is ${format}, and neither Parquet nor CSV. `);
  });
});

describe('inputs', () => {
  beforeAll(async () => {
    await write('in/export.csv', `${HEAD}${TIME},a,7\n`);
    await mkdir(join(home, 'copied'));
    for (const name of ['export.csv', 'export (1).csv'])
      await copyFile(join(home, 'in/export.csv'), join(home, 'copied', name));
    await write('empty/a.csv', HEAD);
    await write('empty/b.csv', HEAD);
    await write('empty/c.csv', `${HEAD}${TIME},a,7\n`);
    await symlink('export.csv', join(home, 'in/latest.csv'));
    await link(join(home, 'in/export.csv'), join(home, 'in/hard.csv'));
    await symlink('in', join(home, 'in-link'));
  });

  it.each([
    ['a file, a link to it and a hard link', ['in'], 2],
    ['a folder and a link to it', ['in', 'in-link'], 5],
  ])('that are one file are read once, which is said: %s', async (_, inputs, times) => {
    const { stdout, stderr } = await convertEvents(inputs);
    expect(stderr).toBe('');
    expect(stdout).toContain('served_ads 7,');
    expect(stdout.match(/read once: \S+ is the same file as \S+/g)).toHaveLength(times);
  });

  it('of the same bytes are refused, unless the operator says that they are others', async () => {
    const { code, stderr } = await convertEvents(['copied']);
    const same = 'copied/export.csv: it holds the same bytes as copied/export (1).csv';
    expect([code, stderr]).toEqual([2, expect.stringContaining(same)]);
    const { stdout } = await convertEvents(['copied'], '--same-bytes-twice');
    expect(stdout).toContain('served_ads 14,');
    expect((await convertEvents(['empty'])).stderr).toBe('');
  });

  it('with names that are no UTF-8, and what is no file, are refused', async () => {
    await write('odd/a.csv', `${HEAD}${TIME},a,7\n`);
    execFileSync('mkfifo', [join(home, 'odd/pipe.csv')]);
    await writeFile(Buffer.concat([Buffer.from(`${home}/odd/`), Buffer.from('caf\xe9.csv', 'latin1')]), HEAD);
    const { code, stderr } = await convert(['odd']);
    expect(code).toBe(2);
    expect(stderr).toContain("odd/caf\ufffd.csv can't be read: its name is no UTF-8. Rename it");
    expect(stderr).toContain("odd/pipe.csv can't be read: it is no file");
    expect((await convert(['odd/pipe.csv'])).stderr).toContain("odd/pipe.csv can't be read: it is no file");
  });

  it('are converted into a folder whose name is a pattern', async () => {
    const words = ['--to', join(home, 'o[1]*'), '--table', 'publisher_events'];
    const { stdout, stderr } = await runLake(['convert', join(home, 'in'), ...words]);
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('served_ads 7,')]);
  });
});

describe('the columns of a file', () => {
  it('may have any names: those of a conversion are others', async () => {
    const own = 'digits of revenue,Time of event_time,from clicks,the record,is lost,day,reason 0';
    const names = own.split(',');
    const nines = names.map(() => '999');
    await write('inner.csv', `event_time,served_ads,revenue,${names}\n${TIME},1,0.50,${nines}\n`);
    const { stdout, stderr } = await convertEvents(['inner.csv']);
    expect(stderr).toBe('');
    expect(stdout).toContain('revenue 0.500000');
    const quoted = names.map((name) => `"${name}"`).join(', ');
    expect(stdout).toContain(`not read, since the contract has no such column: ${quoted}`);
    const select = names.map((name) => `999 AS "${name}"`).join(', ');
    const record = publisherRecord({ revenue: "'0.50'" });
    await writer.file('inner.parquet', `SELECT *, ${select} FROM (${record})`);
    expect((await convert(['inner.parquet'])).stdout).toContain('revenue 0.500000');
  });

  it('must have each metric, unless the operator says that one is missing', async () => {
    const HERE = ['served_ads', 'placement_opens', 'container_opens', 'clicks', 'revenue'];
    // Metrics that came after the contract are not in the file either.
    const later = measureColumns(publisherReport).filter((name) => !HERE.includes(name));
    const exactly = (...options: readonly string[]) =>
      runLakeExactly([
        ...['convert', join(home, 'names.csv'), '--to', join(home, 'names'), ...options],
        ...later.flatMap((name) => ['--without', name]),
      ]);
    const head = 'event_time,publisher_company_id,placement_id,served_ads,placement_opens,container_opens';
    await write('names.csv', `${head},click,revenue_usd\n${TIME},1,1,1,1,0,5,2.5\n`);
    const { code, stderr } = await exactly();
    expect(code).toBe(2);
    expect(stderr).toContain(
      'names.csv: no column is clicks, so that reports would show 0. There is click: if that is it, name it clicks. If it has none, say --without clicks',
    );
    expect(stderr).toContain(
      'There is revenue_usd: if that is it, name it revenue. If it has none, say --without revenue',
    );
    expect((await exactly('--without', 'clicks')).stderr).toContain('One thing stands against it');
    const { stdout } = await exactly('--without', 'clicks', '--without', 'revenue');
    expect(stdout).toContain('not read, since the contract has no such column: "click", "revenue_usd"');
    const unknown = await exactly('--without', 'click');
    expect(unknown.stderr).toContain('--without is "click"; it can be served_ads, ');
  });
});

describe('a column in the names of folders', () => {
  it('is read if the files do not have this column', async () => {
    const record = publisherRecord({ publisher_company_id: undefined, device_or_proxy: undefined });
    // What is no percent-encoded text is kept as it is.
    const devices = { 31: 'a%2Fb', __HIVE_DEFAULT_PARTITION__: '50%', 32: 'M%FCller' };
    for (const [company, device] of Object.entries(devices))
      await writer.file(`hive/publisher_company_id=${company}/device_or_proxy=${device}/a.parquet`, record);
    expect((await convert(['hive'])).stderr).toBe('');
    const values = await valuesOf('publisher_company_id::VARCHAR, device_or_proxy');
    expect(values).toEqual(['31|a/b', '32|M%FCller', '|50%']);
  });

  it('is not read if the files have this column; other folder names are ignored', async () => {
    await writer.file('both/publisher_company_id=31/day=7/a.parquet', publisherRecord());
    await convert(['both']);
    expect(await valuesOf('publisher_company_id::VARCHAR')).toEqual(['1']);
  });
});

it.each([
  ['convert', 'a', '--to', 'b', '--to', 'c'],
  ['convert', 'a', '--to', 'b', '--round', '--round'],
  ['hourly', '--from', 'a', '--from', 'b', '--to', 'c'],
  ['check', 'a', '--all', '--all'],
])('lake %s refuses an option that is given twice', async (...words) => {
  const twice = words.find((word, at) => word.startsWith('--') && words.indexOf(word) !== at);
  const { code, stderr } = await runLakeExactly(words);
  expect([code, stderr]).toEqual([2, `${twice} is given twice. Give it once.\n`]);
});

it('lake convert refuses to read files of the lake that it writes', async () => {
  await write('around/lake/a.csv', `${HEAD}${TIME},a,1\n`);
  const around = join(home, 'around');
  const { code, stderr } = await runLake(['convert', around, '--to', join(around, 'lake')]);
  expect([code, stderr.replaceAll(`${home}/`, '')]).toEqual([
    2,
    'Nothing was written: around/lake/a.csv is read and lies in around/lake, so that its records could count twice. Convert to a lake elsewhere, or name the files without those in around/lake.\n',
  ]);
});
