import { describe, expect, it } from 'vitest';
import { advertiserReport, publisherReport } from '../../../lib/report/catalogue.ts';
import { firstChoice } from '../../../page/src/question/choice.ts';
import { faultsOf, parametersOf, urlOf } from '../../../page/src/question/request.ts';

const days = { first: '2026-02-22', last: '2026-02-28' };

describe('the request of a choice', () => {
  it('has a window to the end of the last day, and no faults for the first choice of each report', () => {
    const parameters = parametersOf(firstChoice(), days);
    expect(parameters).toEqual([
      ['requestedFields', firstChoice().fields.join(',')],
      ['startInclusive', '2026-02-22T00:00:00Z'],
      ['endExclusive', '2026-03-01T00:00:00Z'],
      ['api-version', '1.0'],
    ]);
    expect(faultsOf(publisherReport, parameters)).toEqual([]);
    expect(faultsOf(advertiserReport, parametersOf(firstChoice('advertiserperformance'), days))).toEqual([]);
  });

  it('has faults in the words of the service', () => {
    const wrong = { fields: ['Click'], filters: [{ field: 'PlacementId', values: ['1', 'x'] }] };
    const parameters = parametersOf(
      { ...firstChoice(), ...wrong },
      { first: '2026-01-01', last: '2026-12-31' },
    );
    expect(faultsOf(publisherReport, parameters)).toEqual([
      { parameter: 'requestedFields', detail: 'Unknown field "Click". Did you mean "Clicks"?' },
      { parameter: 'endExclusive', detail: expect.stringMatching(/^The window is longer than \d+ days\./) },
      { parameter: 'filter[PlacementId]', detail: '"x" is not an integer in decimal digits.' },
    ]);
  });

  it('leaves out what is not chosen, and each missing parameter is a fault', () => {
    const parameters = parametersOf({ ...firstChoice(), fields: [] }, { first: '', last: '' });
    const missing = faultsOf(publisherReport, parameters).map(({ parameter }) => parameter);
    expect(missing).toEqual(['requestedFields', 'startInclusive', 'endExclusive']);
  });
});

it('sends a text that is no day as it is, so that its fault is not a missing parameter', () => {
  const parameters = parametersOf(firstChoice(), { first: '2026-02-30', last: 'x' });
  expect(parameters.slice(1, 3)).toEqual([
    ['startInclusive', '2026-02-30T00:00:00Z'],
    ['endExclusive', 'xT00:00:00Z'],
  ]);
});

it('the URL begins with the service’s address, holds every parameter, and can stand in a shell’s single quotes', () => {
  const awkward = [`O'Brien" OR 1=1 --`, 'a&b=c#d', '日本語 🦊', '$(id) `id` \\', '100%', '+'];
  const filters = [{ field: 'DeviceOrProxy', values: awkward }];
  const parameters = parametersOf({ ...firstChoice(), filters }, days);
  const url = urlOf('https://api.example/dev/', publisherReport, parameters);
  const page = 'https://api.example/dev/reporting/publisherperformance';
  expect(url.startsWith(`${page}?requestedFields=Day,`)).toBe(true);
  expect([...new URL(url).searchParams]).toEqual(parameters);
  expect(url).not.toMatch(/['\\\s]/);
});
