import { fieldOf } from '../../lib/report/catalogue.ts';
import type { Comparison } from './choice.ts';
import { focusOn } from './focus.ts';
import { counted } from './format.ts';
import { windowWords } from './presets.ts';
import { choice, days, isBuilderOpen, report } from './state.ts';

export const COMPARISONS: Readonly<Record<Comparison, string>> = {
  none: 'Nothing',
  'period-before': 'The period before',
  'year-before': 'The same days a year ago',
};

/** What is chosen, in one line, and the way to change it. */
export function QuestionLine() {
  const isOpen = isBuilderOpen.value;
  return (
    <section class="question" aria-label="The question">
      <p>{questionWords()}</p>
      <button
        type="button"
        class="pill"
        aria-expanded={isOpen}
        aria-controls="builder"
        onClick={() => {
          isBuilderOpen.value = !isOpen;
          if (!isOpen) focusOn('#builder');
        }}
      >
        {isOpen ? 'Fold' : 'Change'}
      </button>
    </section>
  );
}

/** `Publisher · last 7 days · by Day, DeviceOrProxy · Clicks, Revenue · 2 filters`. */
export function questionWords(): string {
  const { fields, filters, window, compare } = choice.value;
  const isMetric = (name: string) => fieldOf(report.value, name)?.role === 'metric';
  const dimensions = fields.filter((name) => !isMetric(name));
  const metrics = fields.filter(isMetric);
  return [
    shortTitle(report.value.title),
    windowWords(window, days.value),
    dimensions.length > 0 ? `by ${dimensions.join(', ')}` : 'in all',
    metrics.join(', '),
    filters.length > 0 ? counted(filters.length, 'filter') : '',
    compare === 'none' ? '' : `against ${COMPARISONS[compare].toLowerCase()}`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

export const shortTitle = (title: string): string => title.replace(' performance report', '');
