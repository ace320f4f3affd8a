import { describe, expect, it } from 'vitest';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import { fileStem } from '../../../page/src/answer/snippets.ts';

const asked = (fields: string, start = '2026-03-10T00:00:00Z', end = '2026-03-14T00:00:00Z') =>
  [
    ['requestedFields', fields],
    ['startInclusive', start],
    ['endExclusive', end],
  ] as const;

describe('the name of a file', () => {
  it.each([
    [asked('Day,Clicks'), 'publisherperformance_Day-Clicks_2026-03-10_2026-03-13'],
    [
      asked('Day'.concat(',PublisherCompanyId'.repeat(6))),
      /^publisherperformance_Day(-PublisherCompanyId){4}-and-2-more_/,
    ],
    // The address of the page may hold anything: the name is safe in a shell, and in a path.
    [asked("$(rm -rf),'../x", 'no time', ''), 'publisherperformance_rm-rf-..x_notime'],
    [[], 'publisherperformance'],
  ])('tells report, fields, first and last day: %#', (parameters, name) => {
    expect(fileStem(publisherReport, parameters)).toMatch(name);
    expect(fileStem(publisherReport, parameters)).toMatch(/^[\w.-]+$/);
  });

  it('is another one for each report', () => {
    expect(fileStem(advertiserReport, asked('Day'))).toMatch(/^advertiserperformance_/);
  });
});
