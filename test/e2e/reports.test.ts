import { describe, expect, it } from 'vitest';
import { reportOf, reports } from '../../lib/report/catalogue.ts';
import { corpusOf } from '../trino/corpus.ts';
import { expectedReport, type Question } from './expected-report.ts';
import { AWKWARD_TEXT, knownEvents } from './known-events.ts';
import { ownService } from './service.ts';

const events = knownEvents(20260101, 1_500);

/** The contract's fields, in the contract's order. Fields that came later are only in the catalogue. */
const CONTRACT: Readonly<Record<string, string>> = {
  publisherperformance:
    'DateTime,Day,PlacementId,ContainerId,PublisherAccountId,PublisherCompanyId,DeviceOrProxy,ServedAds,Opens,Clicks,Revenue',
  advertiserperformance:
    'DateTime,Day,AdvertiserCompanyId,CampaignId,CampaignLineId,CreativeId,DemandOrigin,PlacementId,ContainerId,PublisherAccountId,PublisherCompanyId,DeviceOrProxy,Impressions,Clicks,Conversions,ConversionRevenue,Spend',
};

/** A question about a window of days or times, without the `Z`; by default, about January. */
function ask(
  fields: string,
  window = '2026-01-01/2026-02-01',
  filters: NonNullable<Question['filters']> = {},
): Question {
  const [start = '', end = ''] = window
    .split('/')
    .map((time) => `${time}${'T00:00:00'.slice(time.length - 10)}Z`);
  return { fields: fields.split(','), start, end, filters };
}
const JANUARY = undefined;

const service = await ownService(events);

const agrees = async (report: string, question: Question) => {
  const csv = await service.pull(report, question);
  const rows = events[reportOf(report)?.table ?? ''] ?? [];
  expect(csv).toBe(expectedReport(report, rows, question));
  return csv;
};

describe.each(reports)('GET /reporting/$name', ({ name, fields }) => {
  const names = fields.map((field) => field.name);
  const contracts = CONTRACT[name]?.split(',') ?? [];

  it('has every field of the contract, in the order of the contract', () => {
    expect(names.filter((field) => contracts.includes(field))).toEqual(contracts);
  });

  it('gives byte for byte the report computed from the events: all dimensions and metrics', async () => {
    await agrees(name, ask(names.join(',')));
  });

  it.each(fields.filter((field) => !contracts.includes(field.name)))(
    'gives byte for byte the report computed from the events: $name, which came after the contract',
    async (field) => {
      const csv = await agrees(name, ask(field.name));
      // If the events had no value of this field, both reports would show none and be equal, which would prove nothing.
      expect(csv).not.toMatch(/^"\w+"\n(0(\.0+)?)?\n$/);
    },
  );
});

it.each<[string, Question]>([
  ['one row of totals', ask('Opens,Clicks,Revenue,ServedAds')],
  ['one row of zeros without data', ask('ServedAds,Opens,Clicks,Revenue', '2026-01-04/2026-01-05')],
  ['only the header if a grouped report has no data', ask('Day,Clicks', '2026-01-04/2026-01-05')],
  ['only the header before the first day of the lake', ask('Day,Clicks', '1999-12-31/2000-01-02')],
  ['only the header in the year 0000', ask('DateTime,Clicks', '0000-01-01T00:30:00/0000-01-02T00:30:00')],
  [
    'a filter on the largest signed 64-bit id',
    ask('PublisherCompanyId,Clicks', JANUARY, { PublisherCompanyId: ['9223372036854775807'] }),
  ],
  [
    'filter[PlacementId] with Opens and another filter, which the look-up of the containers ignores',
    ask('DeviceOrProxy,Opens,Clicks', JANUARY, { PlacementId: ['13'], DeviceOrProxy: ['phone', 'Zürich'] }),
  ],
  [
    'filter[PlacementId] with Opens in a window that cuts hours',
    ask('Opens,Clicks', '2026-01-02T10:30:00/2026-01-02T10:45:00', { PlacementId: ['10'] }),
  ],
  [
    'filter[PlacementId] with Opens and a filter on a day: the containers come from the whole window',
    ask('Opens,Clicks', JANUARY, { PlacementId: ['14'], Day: ['2026-01-03T00:00:00Z'] }),
  ],
])(
  'GET /reporting/publisherperformance gives byte for byte the report computed from the events: %s',
  async (_, question) => {
    await agrees('publisherperformance', question);
  },
);

describe('reports', () => {
  it.each(AWKWARD_TEXT.filter((text) => text !== '' && !/\p{Cc}/u.test(text)))(
    'have only the rows with the text %j if they are filtered by it',
    async (value) => {
      const byDevice = ask('DeviceOrProxy,Clicks', JANUARY, { DeviceOrProxy: [value] });
      expect(await agrees('publisherperformance', byDevice)).toContain(`"${value.replaceAll('"', '""')}",`);
      await agrees('advertiserperformance', ask('DemandOrigin,Spend', JANUARY, { DemandOrigin: [value] }));
    },
  );

  it.each([`phone') OR (1=1`, `phone'; DROP TABLE publisher_events; --`, `\\' OR 1=1 --`, 'ph_ne%'])(
    'have no rows for the hostile filter text %j',
    async (value) => {
      for (const report of ['publisherperformance', 'advertiserperformance']) {
        const question = ask('DeviceOrProxy,Clicks', JANUARY, { DeviceOrProxy: [value] });
        expect(await agrees(report, question)).toBe('"DeviceOrProxy","Clicks"\n');
      }
    },
  );

  it.each(reports)(
    'equal the reports computed from the events, for random questions: $name',
    async (report) => {
      const rows = events[report.table] ?? [];
      for (const { question } of corpusOf(report, rows, 200).slice(-40)) await agrees(report.name, question);
    },
  );
});
