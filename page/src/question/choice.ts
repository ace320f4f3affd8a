import { reportOf, reports } from '../../../lib/report/catalogue.ts';
import { filteredField, filterParameter } from '../../../lib/report/filter.ts';
import { type Days, isPreset, type Preset } from './presets.ts';

export interface ChosenFilter {
  readonly field: string;
  /** The values in the form in which the request sends them. */
  readonly values: readonly string[];
}

/** The comparisons, by their titles. The first ones have the same weekdays on both sides. */
export const COMPARISONS = {
  none: 'Nothing',
  /** A week before for up to seven days, else the whole weeks before. */
  'weekdays-before': 'The same weekdays before',
  /** 52 weeks before. */
  'weekdays-year-before': 'The same weekdays a year ago',
  'period-before': 'The days just before',
  'year-before': 'The same dates a year ago',
} as const;

export type Comparison = keyof typeof COMPARISONS;

/** Everything that the user chooses on the page, except who asks. */
export interface Choice {
  readonly report: string;
  /** The report's columns, in their order. */
  readonly fields: readonly string[];
  /** The chosen days. A preset is relative to today: a bookmark of "yesterday" shows another day tomorrow. */
  readonly window: Preset | Days;
  readonly filters: readonly ChosenFilter[];
  readonly compare: Comparison;
}

/**
 * The caller who was chosen at one moment. If an answer arrives after the user has chosen another caller, the page does
 * not show it. A report is the exception: the page shows it, and marks it as the answer to an earlier question.
 */
export interface Caller {
  /** Differs between callers. It stays in memory. */
  readonly key: string;
  /** The id of the client that the token was issued to; empty if the token does not tell. */
  readonly id: string;
  /** Resolves to an access token: the pasted one, or a new one for the sample partner. Rejects if there is none. */
  token(): Promise<string>;
}

/** The choice that a report starts with: every metric, day by day, over the latest days. */
export function firstChoice(report = reports[0]?.name ?? ''): Choice {
  const shown = reportOf(report)?.fields.filter(
    (field) => field.role === 'metric' || (field.type === 'datetime' && field.grain === 'day'),
  );
  return {
    report,
    fields: shown?.map(({ name }) => name) ?? [],
    window: 'latest',
    filters: [],
    compare: 'none',
  };
}

/** Writes the choice as the part of the page's address after `#`. Browsers never send this part to a server. */
export function toHash({ report, fields, window, filters, compare }: Choice): string {
  const query = new URLSearchParams({ report, requestedFields: fields.join(',') });
  if (typeof window === 'string') query.set('window', window);
  else {
    query.set('first', window.first);
    query.set('last', window.last);
  }
  if (compare !== 'none') query.set('compare', compare);
  for (const filter of filters)
    for (const value of filter.values) query.append(filterParameter(filter.field), value);
  return query.toString().replaceAll('%2C', ',').replaceAll('%5B', '[').replaceAll('%5D', ']');
}

/**
 * Reads the choice from the page's address. A missing part gets the default of a new page. So does an unknown report,
 * preset or comparison.
 */
export function fromHash(hash: string): Choice {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const known = reportOf(query.get('report') ?? '');
  const first = firstChoice(known?.name);
  const fields = query.get('requestedFields');
  const preset = query.get('window') ?? '';
  return {
    report: first.report,
    // Keeps unknown names, so that the page can show the fault.
    fields: fields === null ? first.fields : fields.split(',').filter((name) => name !== ''),
    window: isPreset(preset)
      ? preset
      : query.has('first') || query.has('last')
        ? { first: query.get('first') ?? '', last: query.get('last') ?? '' }
        : first.window,
    filters: [...new Set(query.keys())].flatMap((parameter) => {
      const field = filteredField(parameter);
      return field === undefined ? [] : [{ field, values: query.getAll(parameter) }];
    }),
    compare:
      (Object.keys(COMPARISONS) as Comparison[]).find((name) => name === query.get('compare')) ?? 'none',
  };
}
