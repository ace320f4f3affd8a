import { expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';

/** A text with characters that have a meaning in URLs, shells and query strings. */
export const ODD_TEXT = 'Müller & Söhne: 100% +1 [x] "y"';

/** What the guides filter by. */
const DEVICES: Readonly<Record<string, string>> = {
  phone: 'Mobile',
  desktop: 'Tablet',
  'comma, Inc.': ODD_TEXT,
};

const known = knownEvents(7, 3_000);
const publisherEvents = known.publisher_events.map((row) => ({
  ...row,
  device_or_proxy: DEVICES[String(row['device_or_proxy'])] ?? row['device_or_proxy'] ?? null,
}));

/** Events in which the programs of the guides find something. */
export const guideEvents = { ...known, publisher_events: publisherEvents };

/** The report that the guides pull; `more` changes the question. */
export const guideReport = (devices: readonly string[], more = {}): string =>
  expectedReport('publisherperformance', publisherEvents, {
    fields: ['Day', 'PublisherAccountId', 'Clicks', 'Revenue'],
    start: '2026-01-01T00:00:00Z',
    end: '2026-02-01T00:00:00Z',
    ...more,
    ...(devices.length > 0 && { filters: { DeviceOrProxy: [...devices] } }),
  });
