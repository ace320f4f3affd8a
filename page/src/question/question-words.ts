import { fieldOf } from '../../../lib/report/catalogue.ts';
import { counted } from '../format.ts';
import type { Choice, Comparison } from './choice.ts';
import { type Days, windowWords } from './presets.ts';
import { chosenReport } from './request.ts';

export const COMPARISONS: Readonly<Record<Comparison, string>> = {
  none: 'Nothing',
  'period-before': 'The period before',
  'year-before': 'The same days a year ago',
};

/** A question in one line: `Publisher · last 7 days · by Day, DeviceOrProxy · Clicks, Revenue · 2 filters`. */
export function questionWords(choice: Choice, days: Days): string {
  const { fields, filters, window, compare } = choice;
  const report = chosenReport(choice);
  const isMetric = (name: string) => fieldOf(report, name)?.role === 'metric';
  const dimensions = fields.filter((name) => !isMetric(name));
  return [
    shortTitle(report.title),
    windowWords(window, days),
    dimensions.length > 0 ? `by ${dimensions.join(', ')}` : 'in all',
    fields.filter(isMetric).join(', '),
    filters.length > 0 ? counted(filters.length, 'filter') : '',
    compare === 'none' ? '' : `against ${COMPARISONS[compare].toLowerCase()}`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** Shortens a report's title: `Publisher performance report` becomes `Publisher`. */
export const shortTitle = (title: string): string => title.replace(' performance report', '');
