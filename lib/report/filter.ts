import * as v from 'valibot';
import type { Dimension } from './catalogue.ts';
import { quoted } from './did-you-mean.ts';
import { DAY_MS, HOUR_MS, isImpossible, parseUtcTime } from './utc-time.ts';

/** The most characters of a text: Athena takes parameters of 1,024, and each quote may be doubled. */
export const MAX_TEXT_CHARACTERS = 256;
/** The form of a time filter's value, for each grain. */
export const TIME_FILTER_FORM = { hour: 'YYYY-MM-DDThh:00:00Z', day: 'YYYY-MM-DDT00:00:00Z' };

const text = v.pipe(
  v.string(),
  v.check((value) => value !== '', 'The value is empty.'),
  v.check((value) => [...value].length <= MAX_TEXT_CHARACTERS, `At most ${MAX_TEXT_CHARACTERS} characters.`),
  v.check((value) => !/\p{Cc}/u.test(value), 'The value contains control characters.'),
  // The gateway decodes the query before the service sees it: bytes that are no UTF-8, such as %FF, arrive as U+FFFD.
  v.check((value) => !value.includes('\uFFFD'), 'The value is not UTF-8. Percent-encode its UTF-8 bytes.'),
);

/** A hint for callers who write several values as one list. Texts get no such hint, because they may contain commas. */
const repeatInstead = (value: string) =>
  value.includes(',') ? ' For several values, repeat the parameter once a value.' : '';

const integer = v.pipe(
  v.string(),
  v.regex(
    /^-?\d+$/,
    ({ input }) => `${quoted(input)} is not an integer in decimal digits.${repeatInstead(input)}`,
  ),
  v.transform((digits) => BigInt(digits)),
  v.check((value) => BigInt.asIntN(64, value) === value, 'The integer does not fit into 64 bits.'),
);

/** Parses an instant in whole `unitMs`, to milliseconds since 1970. `complaint` says what is wrong with other texts. */
export const instant = (unitMs: number, complaint: (text: string) => string) =>
  v.pipe(
    v.string(),
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
      const time = parseUtcTime(value);
      if (time !== undefined && time % unitMs === 0) return time;
      addIssue({ message: isImpossible(value) ? `${quoted(value)} does not exist.` : complaint(value) });
      return NEVER;
    }),
  );

const onlyTime = (unitMs: number, expected: string) =>
  instant(unitMs, (text) => `The value must be ${expected}, or no record could match.${repeatInstead(text)}`);
const hour = onlyTime(HOUR_MS, `a whole hour, ${TIME_FILTER_FORM.hour}`);
const day = onlyTime(DAY_MS, `a midnight, ${TIME_FILTER_FORM.day}`);

/**
 * Parses a filter's values (docs/contract.md#filters), each once and in a fixed order, so that the same filters make
 * the same query. Instants become milliseconds since 1970.
 */
export const filterSchema = (dimension: Dimension) =>
  dimension.type === 'datetime'
    ? v.pipe(
        v.array(dimension.grain === 'hour' ? hour : day),
        v.transform((values) => ({ kind: 'time', dimension, values: eachOnce(values) }) as const),
      )
    : v.pipe(
        v.array(dimension.type === 'integer' ? integer : text),
        v.transform(
          (values) => ({ kind: 'column', dimension, values: eachOnce<string | bigint>(values) }) as const,
        ),
      );

/** Records pass if the dimension's value is one of these values. */
export type Filter = v.InferOutput<ReturnType<typeof filterSchema>>;

const eachOnce = <T>(values: readonly T[]): T[] => [...new Set(values)].sort();

/** The query parameter of a filter on a field: `filter[Day]` (docs/contract.md#filters). */
export const filterParameter = (field: string): string => `filter[${field}]`;

/** The field that a filter parameter names; undefined for other parameters. */
export const filteredField = (parameter: string): string | undefined =>
  /^filter\[([^[\]]+)\]$/.exec(parameter)?.[1];
