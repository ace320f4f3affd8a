import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pythonWith } from '../clients/python.ts';
import { runProgram } from '../clients/run-program.ts';
import { openWriter } from '../tools/make-parquet.ts';
import { highestFirst, int, NOON, type OddColumn, oddParquet, SCHEMA } from '../tools/odd-parquet.ts';
import { runLake } from '../tools/run-lake.ts';
import types from './pyarrow-types.json' with { type: 'json' };
import { writtenBy } from './python-source.ts';

const python = (await pythonWith('parquet', ['pyarrow==26.0.1'])) ?? '';

const home = await writtenBy(python, 'parquet_source.py');

const ROLES = ['event_time', 'clicks', 'device_or_proxy', 'revenue'] as const;
const INSIDE = 'publisher_events/day=2026-01-31/events.parquet';

const convert = async (lake: string, ...options: string[]) => {
  const to = await mkdtemp(join(home, 'lake-'));
  const run = await runLake(['convert', lake, '--to', to, '--table', 'publisher_events', ...options]);
  return { ...run, to };
};

const valuesIn = async (lake: string, sql: string) => {
  using reader = await openWriter(lake);
  return (await reader.rows(`SELECT ${sql} FROM '${lake}/*/*/*.parquet' ORDER BY 1`)).flat();
};

/**
 * What becomes of each of pyarrow's types, as a time, a count, a text and an amount: the engines read it as it is (is),
 * `convert` makes the values of it (made), or it is refused (no). The files' values are 3, 4 and 5, or noon. Parquet has
 * no durations: they are integers.
 */
const TYPES: Readonly<Record<string, readonly string[]>> = types;

const cases = Object.entries(TYPES).flatMap(([type, verdicts]) =>
  ROLES.map((role, index) => [type, role, verdicts[index] as string] as const),
);

it.skipIf(!python).each(cases)('a type that pyarrow writes: %s as %s: %s', async (type, role, verdict) => {
  const lake = join(home, `${type} as ${role}`);
  const checked = await runLake(['check', lake, '--footers', '--all']);
  const says = `column  ${role}\n   found   it is `;
  const finding = checked.stdout.split('\n\n').find((part) => part.includes(says));
  expect(finding === undefined).toBe(verdict === 'is');
  if (verdict === 'made') expect(finding).toMatch(/cure {4}Run `npm run lake -- convert /);
  if (verdict === 'no') expect(finding).not.toContain('npm run lake');
  const unit = role === 'event_time' ? ['--time-unit', 'microseconds'] : [];
  const { code, stderr, to } = await convert(lake, ...unit);
  // A record needs a time: the type is taken, and its NULLs are refused.
  const isRefused = role === 'event_time' && type === 'null';
  if (verdict === 'no' || isRefused) {
    expect(code).toBe(2);
    const cause = verdict === 'no' ? ' is .*, of which no .* can be made\\. ' : ': in 3 records';
    return expect(stderr).toMatch(RegExp(role + cause));
  }
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return expect(await valuesIn(to, `${role}::VARCHAR`)).toEqual(valuesOf(type, role));
});

/** The values that the lake must have. */
function valuesOf(type: string, role: (typeof ROLES)[number]): readonly (string | null)[] {
  if (type === 'null') return [null, null, null];
  if (role === 'event_time') {
    if (/^(timestamp|instant|int96)/.test(type)) return Array(3).fill('2026-01-31 12:00:00');
    if (type.startsWith('date')) return Array(3).fill('2026-01-31 00:00:00');
    // 3, 4 and 5 microseconds are cut to the millisecond.
    return Array(3).fill('1970-01-01 00:00:00');
  }
  if (type === 'bool') return ['false', 'true', 'true'];
  if (type === 'uuid')
    return ['03', '04', '05'].map((n) => [4, 2, 2, 2, 6].map((times) => n.repeat(times)).join('-'));
  return ['3', '4', '5'].map((n) => (role === 'revenue' ? `${n}.000000` : n));
}

/** Runs the statement of a message, with the file's name for `in.parquet`. Resolves to the new file. */
async function cured(message: string, file: string): Promise<string> {
  const [, program = ''] = /`python3 -c "([^`]*)"`/.exec(message) ?? [];
  expect(program).not.toBe('');
  const folder = await mkdtemp(join(home, 'cured-'));
  await copyFile(file, join(folder, 'in.parquet'));
  await runProgram(python, ['-c', program], { cwd: folder });
  return join(folder, 'out.parquet');
}

describe.skipIf(!python)('the statement in a refusal makes the file right', () => {
  const SUMS = { revenue: 'revenue 999999999999.249999', clicks: 'clicks 9007199254741000' };

  it.each(
    [39, 45, 53, 60, 76].flatMap((digits) =>
      (['revenue', 'clicks'] as const).map((column) => ({ digits, column })),
    ),
  )('of decimals of $digits digits: $column', async ({ digits, column }) => {
    const lake = join(home, `wide ${digits} ${column}`);
    const { code, stderr } = await convert(lake);
    expect(code).toBe(2);
    const { stdout } = await runLake(['check', lake, '--all']);
    for (const message of [stderr, stdout]) {
      const again = await convert(await cured(message, join(lake, INSIDE)));
      expect(again.stderr).toBe('');
      expect(again.stdout).toContain(SUMS[column]);
    }
  });

  it('of decimals with too many digits: it fails', async () => {
    const lake = join(home, 'wide too long');
    const { stderr } = await convert(lake);
    await expect(cured(stderr, join(lake, INSIDE))).rejects.toThrow();
  });

  it('of LZ4 of Hadoop', async () => {
    /** One block of LZ4 that holds the page as it is, behind the two lengths that Hadoop writes. */
    const framed = (page: Buffer): Buffer => {
      const rest = page.length - 15;
      const long = [0xf0, ...Array(Math.max(0, Math.floor(rest / 255))).fill(255), rest % 255];
      const block = Buffer.concat([Buffer.from(rest < 0 ? [page.length << 4] : long), page]);
      const lengths = [page.length, block.length].map((length) => highestFirst(BigInt(length), 4));
      return Buffer.concat([...lengths, block]);
    };
    const column = (name: string, type: 'timestamp' | 'bigint', values: readonly bigint[]): OddColumn => ({
      ...{ name, schema: SCHEMA[type], values: values.map((value) => int(value)) },
      ...{ packed: framed, metadata: { 4: 5 } },
    });
    const file = join(home, 'hadoop.parquet');
    const times = column('event_time', 'timestamp', [NOON, NOON]);
    await writeFile(file, oddParquet([times, column('clicks', 'bigint', [3n, 4n])]));
    const { stderr } = await convert(file);
    expect(stderr).toContain('LZ4 in the form of Hadoop');
    const again = await convert(await cured(stderr, file));
    expect(again.stderr).toBe('');
    expect(again.stdout).toContain('clicks 7,');
  });
});

const pages = ['none', 'snappy', 'gzip', 'brotli', 'zstd', 'lz4'].flatMap((codec) => [
  `${codec} 1.0`,
  `${codec} 2.0`,
]);

it.skipIf(!python).each(pages)(
  'pages that pyarrow writes with checksums are read if they are whole, and refused after a flipped bit: %s',
  async (name) => {
    const lake = join(home, `checksums ${name}`);
    const whole = await convert(lake);
    expect(whole.stderr).toBe('');
    expect(whole.stdout).toContain('served_ads 30000,');
    expect((await runLake(['check', lake])).code).toBe(0);
    const bytes = await readFile(join(lake, INSIDE));
    const end = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    // Bits all over the file. A few are in a page's header, which has no checksum: then its values can't be read.
    const says: string[] = [];
    for (let part = 1; part <= 12; part++) {
      const damaged = Buffer.from(bytes);
      const at = Math.floor((end * part) / 13);
      damaged[at] = (damaged[at] ?? 0) ^ 4;
      const copy = await mkdtemp(join(home, 'damaged-'));
      await mkdir(join(copy, INSIDE, '..'), { recursive: true });
      await writeFile(join(copy, INSIDE), damaged);
      const { code, stderr } = await convert(copy);
      const hours = await mkdtemp(join(home, 'hours-'));
      const hourly = await runLake(['hourly', '--from', copy, '--to', hours]);
      const check = await runLake(['check', copy]);
      expect([code, hourly.code, check.code], `bit at ${at}`).toEqual([2, 1, 1]);
      says.push(stderr, hourly.stdout, check.stdout);
    }
    const checksums = says.filter((said) => said.includes('the checksum of a page is not'));
    expect(checksums.length, says.join('\n')).toBeGreaterThanOrEqual(33);
  },
);
