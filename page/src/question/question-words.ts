import { dimensionsOf, fieldOf, type Report } from '../../../lib/report/catalogue.ts';
import { type Choice, type ChosenFilter, COMPARISONS } from './choice.ts';
import { type Days, windowWords } from './presets.ts';
import { chosenReport } from './request.ts';
import { timeText } from './time-text.ts';

const SHOWN_VALUES = 3;

/** A question in one line: `Publisher · last 7 days · by Day · Clicks, Revenue · only DeviceOrProxy "Mobile"`. */
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
    ...filters.map((filter) => filterWords(filter, report)),
    compare === 'none' ? '' : `against ${COMPARISONS[compare].toLowerCase()}`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** A filter by its name and its values: `only PlacementId 11, 12 or 13`. Texts are quoted, so that a blank is seen. */
function filterWords(filter: ChosenFilter, report: Report): string {
  const dimension = dimensionsOf(report).find(({ name }) => name === filter.field);
  const words = filter.values.map((value) => {
    if (dimension?.type === 'datetime') return timeText(value, dimension.grain);
    return dimension?.type === 'integer' && value !== '' ? value : JSON.stringify(value);
  });
  const shown = words.slice(0, SHOWN_VALUES);
  const last = words.length > SHOWN_VALUES ? `${words.length - SHOWN_VALUES} more` : shown.pop();
  return `only ${filter.field} ${[...(shown.length > 0 ? [shown.join(', ')] : []), last].join(' or ')}`;
}

/** Shortens a report's title: `Publisher performance report` becomes `Publisher`. */
export const shortTitle = (title: string): string => title.replace(' performance report', '');
