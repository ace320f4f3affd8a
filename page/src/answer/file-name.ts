import type { Report } from '../../../lib/report/catalogue.ts';
import type { Parameters } from '../question/request.ts';

const MAX_FIELD_CHARACTERS = 80;

/**
 * The name of a report's file, without its ending: the report, its fields, its first and its last day, such as
 * `publisherperformance_Day-Clicks_2026-03-10_2026-03-13`. It has only letters, digits, `-`, `_` and `.`, since it
 * stands in programs for a shell.
 */
export function fileStem({ name }: Report, parameters: Parameters): string {
  const parameterOf = (parameter: string) => parameters.find(([one]) => one === parameter)?.[1] ?? '';
  const fields = parameterOf('requestedFields').split(',');
  let shown = fields.length;
  while (shown > 1 && fields.slice(0, shown).join('-').length > MAX_FIELD_CHARACTERS) shown -= 1;
  const more = shown < fields.length ? [`and-${fields.length - shown}-more`] : [];
  const end = Date.parse(parameterOf('endExclusive'));
  const last = Number.isNaN(end) ? '' : new Date(end - 1).toISOString().slice(0, 10);
  return [
    name,
    [...fields.slice(0, shown), ...more].join('-'),
    parameterOf('startInclusive').slice(0, 10),
    last,
  ]
    .map((part) => part.replaceAll(/[^\w.-]+/g, ''))
    .filter((part) => part !== '')
    .join('_');
}
