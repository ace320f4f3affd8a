import { expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';

/** A text with characters that have a meaning in URLs, shells and query strings. */
export const ODD_TEXT = 'Müller & Söhne: 100% +1 [x] "y"';

/** Device texts of the known events. Each is replaced by a text from the filters of the guides' programs. */
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

/** The known events with these texts, so that the filters of the guides' programs match some of them. */
export const guideEvents = { ...known, publisher_events: publisherEvents };

/** The expected report of the guides' programs; `more` changes the question. */
export const guideReport = (devices: readonly string[], more = {}): string =>
  expectedReport('publisherperformance', publisherEvents, {
    fields: ['Day', 'PublisherAccountId', 'Clicks', 'Revenue'],
    start: '2026-01-01T00:00:00Z',
    end: '2026-02-01T00:00:00Z',
    ...more,
    ...(devices.length > 0 && { filters: { DeviceOrProxy: [...devices] } }),
  });
