import * as v from 'valibot';
import type { Fault } from '../../../lib/problems/problem.ts';
import type { Dimension } from '../../../lib/report/catalogue.ts';
import { shortened } from '../../../lib/report/did-you-mean.ts';
import { filterSchema } from '../../../lib/report/filter.ts';
import { MAX_WINDOW_DAYS } from '../../../lib/report/utc-time.ts';
import { addDays, type Days, isDay } from './presets.ts';
import { timeText } from './time-text.ts';

/** The fields and days that were chosen when the fault was found. */
export interface FaultContext {
  readonly fields: readonly string[];
  readonly days: Days;
}

/**
 * Describes a fault of the request in the words of the page. The service names its parameters, but the page names its
 * inputs. If the choice does not explain the fault, the service's own words are used.
 */
export function faultWords({ parameter, detail }: Fault, { fields, days }: FaultContext): string {
  switch (parameter) {
    case 'requestedFields':
      return fields.length === 0 ? 'Choose at least one field.' : detail;
    case 'startInclusive':
      return dayWords(days.first, 'first') ?? detail;
    case 'endExclusive':
      return dayWords(days.last, 'last') ?? windowWords(days) ?? detail;
    default:
      return detail;
  }
}

/** Says what is wrong with the first day alone, or with the last day alone. */
function dayWords(day: string, which: 'first' | 'last'): string | undefined {
  if (day === '') return `Choose the ${which} day.`;
  return isDay(day) ? undefined : noDay(day);
}

const noDay = (text: string) =>
  `${shortened(text)} is no day.${/^\d{4}-\d\d-\d\d$/.test(text) ? '' : ' Write it as YYYY-MM-DD.'}`;

/** Says what is wrong with the two days together. */
function windowWords({ first, last }: Days): string | undefined {
  if (!isDay(first)) return undefined;
  if (last < first) return 'The last day is before the first day.';
  const latest = addDays(first, MAX_WINDOW_DAYS - 1);
  return last > latest
    ? `At most ${MAX_WINDOW_DAYS} days. From ${first} on, the last day can be ${latest}.`
    : undefined;
}

/** The day inputs that a fault belongs to: both inputs if the days are wrong together. */
export function faultyDays({ parameter }: Fault, { first, last }: Days): readonly ('first' | 'last')[] {
  if (parameter === 'startInclusive') return ['first'];
  if (parameter !== 'endExclusive') return [];
  return isDay(first) && isDay(last) ? ['first', 'last'] : ['last'];
}

/** Says what is wrong with one value of a filter, in the words of the page; undefined if the value is valid. */
export function valueFault(dimension: Dimension, value: string): string | undefined {
  const result = v.safeParse(filterSchema(dimension), [value]);
  if (result.success) return undefined;
  if (value === '') return 'Give a value, or drop this one.';
  if (dimension.type === 'integer' && !/^-?\d+$/.test(value))
    return `${shortened(value)} is no whole number.${value.includes(',') ? ' Add each value by itself.' : ''}`;
  if (dimension.type !== 'datetime') return result.issues[0].message;
  const text = timeText(value, dimension.grain);
  return dimension.grain === 'day'
    ? noDay(text)
    : `${shortened(text)} is no hour. Write it as YYYY-MM-DD HH:00.`;
}
