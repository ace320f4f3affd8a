import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tables } from '../../lib/report/tables.ts';
import type { EventRow } from '../e2e/expected-report.ts';
import { randomNumbers } from '../e2e/known-events.ts';
import { isMeasure } from '../is-measure.ts';
import type { Writer } from './make-parquet.ts';

/** Records of two days, with values that every form in FORMS can represent. */
export function plainEvents(seed: number, count: number): Record<string, EventRow[]> {
  const random = randomNumbers(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const orNull = <T>(value: T) => (random() < 0.05 ? null : value);
  const time = () =>
    `2026-01-${pick(['30', '31'])}T${pick(['00:00:00.000', '05:59:59.999', '12:30:00.001', '23:59:59.999'])}Z`;
  const amount = () => pick(['0.1', '0.2', '0.000001', '-0.000001', '1234567.891011', '-12.5', '0', '99.99']);
  return Object.fromEntries(
    tables.map(({ name, columns }) => [
      name,
      Array.from({ length: count }, (): EventRow => {
        const isCoarser = name === 'publisher_events' && random() < 0.2;
        const values = columns.map(({ name: column, type }) => {
          if (type === 'timestamp') return [column, time()];
          if (type === 'decimal(18,6)') return [column, orNull(amount())];
          if (type === 'varchar')
            return [column, orNull(pick(['phone', '', 'a "b", c', 'two\nlines', 'Zürich', '日本 🦊']))];
          if (column === 'placement_id' && isCoarser) return [column, null];
          if (column === 'container_opens' && !isCoarser) return [column, 0n];
          if (column === 'placement_opens' && isCoarser) return [column, 0n];
          if (isMeasure(column)) return [column, orNull(BigInt(Math.floor(random() * 4)))];
          return [
            column,
            column === 'placement_id'
              ? BigInt(1 + Math.floor(random() * 5))
              : orNull(pick([1n, 2n, 9007199254740991n])),
          ];
        });
        return Object.fromEntries(values);
      }),
    ]),
  );
}

const csvField = (value: string | bigint | null | undefined): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'bigint' ? String(value) : `"${value.replaceAll('"', '""')}"`;
};

type Change = (row: EventRow) => EventRow;

const csvOf = (columns: readonly string[], rows: readonly EventRow[], header = columns): string =>
  [header.map((name) => `"${name}"`), ...rows.map((row) => columns.map((name) => csvField(row[name])))]
    .map((cells) => cells.join(','))
    .join('\r\n');

/** The record with the same instant, written with the offset +01:00. */
const toTheEast: Change = (row) => {
  const local = new Date(Date.parse(String(row['event_time'])) + 3_600_000).toISOString();
  return { ...row, event_time: local.replace('T', ' ').replace('Z', '+01:00') };
};

/** The record with the same amounts, written with exponents: `1234567.891011` as `1234567891011e-6`. */
const withExponents: Change = (row) =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      const [whole = '', digits = ''] = isAmount(column) ? String(value ?? '').split('.') : [];
      return [column, whole ? `${whole}${digits}e-${digits.length}` : value];
    }),
  );

const isAmount = (column: string): boolean =>
  tables.some(({ columns }) => columns.some(({ name, type }) => name === column && type === 'decimal(18,6)'));

/** Forms that writers are known to use. Each form has a SQL type for each kind of column. */
const FORMS: readonly Readonly<Record<'timestamp' | 'id' | 'count' | 'money' | 'text', string>>[] = [
  // pandas, with objects and nullable floats
  { timestamp: 'TIMESTAMPTZ', id: 'DOUBLE', count: 'DOUBLE', money: 'DECIMAL(38,18)', text: 'VARCHAR' },
  // floats for money, unsigned identifiers, times as text
  { timestamp: 'VARCHAR', id: 'UBIGINT', count: 'UINTEGER', money: 'DOUBLE', text: 'BLOB' },
  // everything as text
  { timestamp: 'VARCHAR', id: 'VARCHAR', count: 'VARCHAR', money: 'VARCHAR', text: 'VARCHAR' },
  // nanoseconds, wide and narrow integers, another decimal type than the contract's
  { timestamp: 'TIMESTAMP_NS', id: 'HUGEINT', count: 'TINYINT', money: 'DECIMAL(30,10)', text: 'VARCHAR' },
];

/**
 * Writes the records as different writers would. Each table gets a CSV file, a CSV file with gzip, and a Parquet file
 * for each form. Resolves to the folder to convert.
 */
export async function writeOddForms(
  writer: Writer,
  directory: string,
  events: Readonly<Record<string, readonly EventRow[]>>,
): Promise<string> {
  const write = async (path: string, content: string | Buffer) => {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  };
  for (const { name, columns } of tables) {
    const rows = events[name] ?? [];
    const names = columns.map((column) => column.name);
    const share = Math.ceil(rows.length / (FORMS.length + 2));
    const part = (nth: number) => rows.slice(nth * share, (nth + 1) * share);
    await write(`in/${name}.csv`, csvOf(names, part(0)));
    const titles = names.map((title) =>
      title
        .split('_')
        .map((word) => word[0]?.toUpperCase() + word.slice(1))
        .join(''),
    );
    await write(
      `in/deeper/${name}.csv.gz`,
      gzipSync(csvOf(names, part(1).map(toTheEast).map(withExponents), titles)),
    );
    for (const [index, form] of FORMS.entries()) {
      const texts = `${createHash('sha256').update(`${name}${index}`).digest('hex').slice(0, 8)}.csv`;
      await write(`texts/${texts}`, csvOf(names, part(index + 2)));
      const typed = columns.map(({ name: column, type }) => {
        if (type === 'timestamp')
          return form.timestamp === 'VARCHAR'
            ? column
            : `CAST(CAST(${column} AS TIMESTAMPTZ) ${form.timestamp === 'TIMESTAMPTZ' ? '' : "AT TIME ZONE 'UTC'"} AS ${form.timestamp}) AS ${column}`;
        if (type === 'varchar') return form.text === 'BLOB' ? `encode(${column}) AS ${column}` : column;
        const to = type === 'decimal(18,6)' ? form.money : isMeasure(column) ? form.count : form.id;
        return `CAST(${column} AS ${to}) AS ${column}`;
      });
      await writer.file(
        `in/part-${index}-${name}${index % 2 ? '.snappy' : ''}`,
        `SELECT ${typed.join(', ')} FROM read_csv('${join(directory, 'texts', texts)}', all_varchar = true, header = true, nullstr = '', allow_quoted_nulls = false)`,
      );
    }
  }
  return join(directory, 'in');
}
