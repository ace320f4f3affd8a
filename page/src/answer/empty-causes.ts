import { distance } from 'fastest-levenshtein';
import type { Dimension } from '../../../lib/report/catalogue.ts';
import { quoted } from '../../../lib/report/did-you-mean.ts';
import { grouped } from '../format.ts';
import { type FoundValues, inFile, MAX_KEPT } from '../question/found-values.ts';
import type { Days } from '../question/presets.ts';
import { timeText } from '../question/time-text.ts';

const MOST_NEAR = 3;

/** Why a report has no rows. */
export type EmptyCause =
  /** None of the filter's values occurs in these days. This cause names one of the values. */
  | {
      readonly kind: 'no-such-value';
      readonly field: string;
      readonly value: string;
      readonly near: readonly string[];
    }
  /** All values of a filter by time are outside the chosen days. This cause names one of the values. */
  | { readonly kind: 'outside-days'; readonly field: string; readonly value: string }
  /** Each filter finds rows by itself, but all filters together find none. */
  | { readonly kind: 'not-together'; readonly fields: readonly string[] }
  /** These fields have more values than the page keeps, so the page can't judge their filters. */
  | { readonly kind: 'not-told'; readonly fields: readonly string[] }
  /** The caller has no rows at all in these days. */
  | { readonly kind: 'no-rows' };

/** A filter and its dimension. For a text or a number, also the values that occur in the chosen days. */
export interface JudgedFilter {
  readonly dimension: Dimension;
  readonly values: readonly string[];
  readonly found?: FoundValues | undefined;
}

/** The reasons why no row passes the filters. Empty if there is no filter, or if the only filter may let rows pass. */
export function emptyCauses(filters: readonly JudgedFilter[], days: Days): readonly EmptyCause[] {
  if (filters.some(({ found }) => found?.count === 0)) return [{ kind: 'no-rows' }];
  const verdicts = filters.map((filter) => judge(filter, days, filters.length === 1));
  const causes = verdicts.flatMap((verdict) => (typeof verdict === 'object' ? verdict : []));
  if (causes.length > 0) return causes;
  const named = (verdict?: string) =>
    filters.flatMap(({ dimension: { name } }, index) => (verdict && verdicts[index] !== verdict ? [] : name));
  if (verdicts.includes('unknown')) return [{ kind: 'not-told', fields: named('unknown') }];
  return verdicts.length > 1 ? [{ kind: 'not-together', fields: named() }] : [];
}

/**
 * Returns `occurs` if at least one of a filter's values occurs. If none occurs, returns a cause for each value. Returns `unknown` if the page has not kept enough values to judge. A time
 * occurs if it is in the chosen days.
 *
 * @param isAlone whether this is the only filter. Then a value that the page did not keep does not occur at all: if it
 *   occurred, the report would have rows
 */
function judge(
  { dimension, values, found }: JudgedFilter,
  days: Days,
  isAlone: boolean,
): readonly EmptyCause[] | 'occurs' | 'unknown' {
  const { name: field } = dimension;
  if (dimension.type === 'datetime') {
    const isInside = (value: string) => value.slice(0, 10) >= days.first && value.slice(0, 10) <= days.last;
    if (values.some(isInside)) return 'occurs';
    return values.map((value) => ({ kind: 'outside-days', field, value: timeText(value, dimension.grain) }));
  }
  if (!found) return 'unknown';
  const present = found.values.flatMap(({ value }) => value ?? []);
  if (values.some((value) => present.includes(inFile(dimension, value)))) return 'occurs';
  if (found.count > found.values.length && !isAlone) return 'unknown';
  return values.map((value) => ({ kind: 'no-such-value', field, value, near: nearest(value, present) }));
}

/**
 * At most three values, the most similar to `value` first. Values that differ from it only in capital letters are the
 * most similar. The service's `didYouMean` measures in the same way.
 */
function nearest(value: string, present: readonly string[]): readonly string[] {
  const wanted = value.trim().toLowerCase();
  return present
    .map((candidate) => ({ candidate, edits: distance(wanted, candidate.toLowerCase()) }))
    .filter(
      ({ candidate, edits }) =>
        edits <= Math.max(2, candidate.length / 3) && edits < Math.max(wanted.length, candidate.length),
    )
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MOST_NEAR)
    .map(({ candidate }) => candidate);
}

/** A cause as a sentence. */
export function causeWords(cause: EmptyCause): string {
  switch (cause.kind) {
    case 'no-such-value': {
      const near = cause.near.length > 0 ? ` Near: ${cause.near.map(quoted).join(', ')}.` : '';
      return `No row has ${cause.field} ${quoted(cause.value)} in these days.${near}`;
    }
    case 'outside-days':
      return `${cause.field} ${cause.value} is not among the chosen days.`;
    case 'not-together':
      return `The values of ${listed(cause.fields)} occur in these days, but in no row together.`;
    case 'not-told':
      return `Which filter leaves no row is not known: ${listed(cause.fields)} ${cause.fields.length === 1 ? 'has' : 'have'} more than ${grouped(MAX_KEPT)} values in these days.`;
    case 'no-rows':
      return 'You have no rows at all in these days.';
  }
}

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
