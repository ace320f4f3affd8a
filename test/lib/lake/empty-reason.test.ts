import { describe, expect, it } from 'vitest';
import { emptyReason } from '../../../lib/lake/empty-reason.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { parametersOf } from '../report/parameters.ts';

/** Days of January with files: `3` is a day without a marker, `3!` is marked as complete, `!3` has only a marker. */
const days = (...list: string[]) =>
  list.map((text) => {
    const day = `2026-01-${text.replaceAll('!', '').padStart(2, '0')}`;
    return { day, files: text.startsWith('!') ? 0 : 1, isMarkedComplete: text.includes('!') };
  });

const request = (filters: Record<string, string[]>) => {
  const parameters = {
    ...parametersOf('2026-01-03T06:00:00Z/2026-01-05T18:00:00Z', 'Day,Clicks'),
    ...filters,
  };
  return parseRequest(publisherReport, { accept: undefined, parameters });
};

describe('why a report has no rows', () => {
  const day = (number: number) => ({ 'filter[Day]': [`2026-01-0${number}T00:00:00Z`] });
  const hour = (text: string) => ({ 'filter[DateTime]': [`2026-01-${text}:00:00Z`] });
  const all = days('3!', '4!', '5!');
  it.each<[string, Record<string, string[]>, ReturnType<typeof days> | undefined, string]>([
    ['no record matches', { 'filter[DeviceOrProxy]': ['mobile'] }, all, 'no-match'],
    ['the lake can’t be listed', {}, undefined, 'no-match'],
    ['no day has files', {}, [], 'no-records'],
    ['the days have markers only', {}, days('!3', '!4'), 'no-records'],
    ['the filtered day has no files', day(4), days('3!', '5!'), 'no-records'],
    ['a day is open', {}, days('3!', '4'), 'open-days'],
    ['the filtered day is open', day(4), days('3!', '4'), 'open-days'],
    ['another day than the filtered one is open', day(3), days('3!', '4'), 'no-match'],
    ['no day is marked, so none is known to be open', {}, days('3', '4'), 'no-match'],
    ['the filter asks for a day before the window', day(2), all, 'outside-window'],
    ['the filter asks for a day after the window', day(6), all, 'outside-window'],
    ['the filter asks for the hour at which the window ends', hour('05T18'), all, 'outside-window'],
    ['the filter asks for the day in which the window begins', day(3), all, 'no-match'],
    ['the filter asks for an hour before the window', hour('03T05'), all, 'outside-window'],
    ['the filter asks for the first hour', hour('03T06'), all, 'no-match'],
    ['hour and day are of different days', { ...hour('03T06'), ...day(4) }, all, 'outside-window'],
    ['a filter is outside, and the lake can’t be listed', day(2), undefined, 'outside-window'],
  ])('%s', (_, filters, listed, reason) => {
    expect(emptyReason(request(filters), listed)).toBe(reason);
  });
});
