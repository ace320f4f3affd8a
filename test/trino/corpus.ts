import {
  type Dimension,
  dimensionsOf,
  fieldOf,
  metricsOf,
  ownerOf,
  type Report,
} from '../../lib/report/catalogue.ts';
import type { EventRow, Question } from '../e2e/expected-report.ts';
import { randomNumbers } from '../e2e/known-events.ts';

/** A question, and the companies whose rows the caller may see. Without `companies`, the caller sees every row. */
export interface Case {
  readonly question: Question;
  readonly companies?: readonly bigint[];
}

const WIDEST = { start: '2025-12-31T00:00:00Z', end: '2026-02-01T00:00:00Z' };

/** Windows with times that an engine may not be able to represent as timestamps. */
const FARTHEST = [
  { start: '0000-01-01T00:00:01Z', end: '0000-01-02T00:00:01Z' },
  { start: '9999-12-30T00:00:01Z', end: '9999-12-31T23:59:59Z' },
];

/** Starts of windows, each before every end in `ENDS`. The first start is 32 days before the last end. */
const STARTS = [
  ...['2025-12-31T00:00:00Z', '2025-12-31T23:00:00Z', '2026-01-01T00:00:00Z'],
  ...['2026-01-01T00:59:59Z', '2026-01-01T10:30:00Z', '2026-01-02T01:00:00Z'],
];
const ENDS = [
  ...['2026-01-02T10:30:00Z', '2026-01-02T23:59:59Z', '2026-01-03T00:00:00Z'],
  ...['2026-01-05T11:00:01Z', '2026-01-07T00:00:00Z', '2026-02-01T00:00:00Z'],
];

const ABSENT: Readonly<Record<string, string>> = {
  integer: '-424242',
  string: `nobody's "text" -- ?`,
  datetime: '2026-01-04T00:00:00Z',
};

/**
 * Questions for a report, the same at every call: one for each window of `FARTHEST`, one for every field, one for every
 * pair of dimensions with all metrics, and random mixes of fields, filters, windows and entitlements.
 */
export function corpusOf(report: Report, rows: readonly EventRow[], size: number): Case[] {
  const random = randomNumbers(435);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const some = <T>(values: readonly T[], most: number): T[] => {
    const shuffled = values.map((value) => ({ value, at: random() })).sort((a, b) => a.at - b.at);
    return shuffled.slice(0, 1 + Math.floor(random() * most)).map(({ value }) => value);
  };

  const names = report.fields.map(({ name }) => name);
  const dimensions = dimensionsOf(report).map(({ name }) => name);
  const metrics = metricsOf(report).map(({ name }) => name);
  const pairs = dimensions.flatMap((one, index) => dimensions.slice(index + 1).map((other) => [one, other]));
  const found = dimensionsOf(report).map((dimension) => [dimension.name, valuesIn(rows, dimension)]);
  const values: Readonly<Record<string, string[]>> = Object.fromEntries(found);
  const companies = [...(values[ownerOf(report).name] ?? []), ABSENT['integer'] as string].map(BigInt);

  const filter = (name: string): [string, string[]] => {
    const absent = ABSENT[fieldOf(report, name)?.type ?? ''] as string;
    return [name, some([...(values[name] ?? []), absent], 4)];
  };
  const mixed = (): Case => ({
    question: {
      fields: some(names, 7),
      start: pick(STARTS),
      end: pick(ENDS),
      ...(random() < 0.7 && { filters: Object.fromEntries(some(dimensions, 3).map(filter)) }),
    },
    ...(random() < 0.5 && { companies: some(companies, 3) }),
  });

  const planned: Case[] = [
    ...FARTHEST.map((window) => ({ question: { ...window, fields: ['Day', ...metrics] } })),
    ...names.map((name) => ({ question: { ...WIDEST, fields: [name] } })),
    ...pairs.map((pair) => ({ question: { ...WIDEST, fields: [...pair, ...metrics] } })),
  ];
  return [...planned, ...Array.from({ length: size - planned.length }, mixed)];
}

/** The values of a dimension in these records, written as in a filter. Leaves out values that no filter can name. */
function valuesIn(rows: readonly EventRow[], dimension: Dimension): string[] {
  const read = (row: EventRow): string | bigint | null | undefined => {
    if (dimension.type !== 'datetime') return row[dimension.column];
    const time = String(row['event_time']);
    return dimension.grain === 'hour' ? `${time.slice(0, 13)}:00:00Z` : `${time.slice(0, 10)}T00:00:00Z`;
  };
  const values = rows.map((row) => String(read(row) ?? '')).filter((value) => /^\P{Cc}{1,256}$/u.test(value));
  return [...new Set(values)].sort();
}
