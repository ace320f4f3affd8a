import { quoteText } from '../../lib/report/quote-sql.ts';
import { below, chance, draw, skewedBelow } from './draws.ts';

const ADVERTISERS = 140;
const CAMPAIGNS_EACH = 12;
const LINES_EACH = 4;
const CREATIVES_EACH = 3;

/**
 * SQL for the days on which an advertiser's campaign runs, by the campaign's number within the advertiser. A campaign
 * that is not in the list runs in the whole period. Most advertisers start and end their campaigns on days of their
 * own. The largest advertiser (number 0) ends a campaign on 23 February, and starts one on 10 and one on 24 February.
 */
const FLIGHTS: Readonly<Record<number, string>> = {
  2: 'day_index <= 53 - advertiser * 11 % 45',
  3: 'day_index >= 40 - advertiser * 7 % 30',
  6: 'day_index BETWEEN 31 AND 44',
  7: 'day_index <= 22 - advertiser * 3 % 10',
  8: 'day_index >= 54 - advertiser * 13 % 45',
};

const EVERGREEN = Array.from({ length: CAMPAIGNS_EACH }, (_, nth) => nth).filter((nth) => !(nth in FLIGHTS));

const flights = Object.entries(FLIGHTS).map(([nth, runs]) => `WHEN ${nth} THEN ${runs}`);

const drawnAdvertiser = (purpose: string) => skewedBelow(ADVERTISERS, draw(purpose));

/**
 * SQL for the numbers of a record's companies, campaigns and so on, in layers. Each layer uses the layers before it. A
 * record gets a random placement. The placement decides the container, the container decides the account, and the
 * account decides the company, in both tables alike. A record also gets a random campaign, and one of the campaign's
 * lines and creatives. A campaign that does not run on the record's day is replaced by one that always runs.
 */
export const HIERARCHY: readonly Readonly<Record<string, string>>[] = [
  {
    placement: skewedBelow(6000, draw('placement')),
    advertiser: drawnAdvertiser('advertiser'),
    nth: skewedBelow(CAMPAIGNS_EACH, draw('campaign')),
  },
  {
    container: below(900, draw('container of placement', 'placement')),
    is_running: `CASE nth ${flights.join(' ')} ELSE true END`,
  },
  {
    account: skewedBelow(160, draw('account of container', 'container')),
    campaign: `CASE WHEN is_running THEN nth * ${ADVERTISERS} + advertiser
      ELSE [${EVERGREEN.join(', ')}][1 + ${below(EVERGREEN.length, draw('evergreen'))}] * ${ADVERTISERS}
           + ${drawnAdvertiser('advertiser instead')} END`,
  },
  {
    company: skewedBelow(60, draw('company of account', 'account')),
    line: `campaign * ${LINES_EACH} + ${skewedBelow(LINES_EACH, draw('line'))}`,
  },
  { creative: `line * ${CREATIVES_EACH} + ${below(CREATIVES_EACH, draw('creative'))}` },
];

/** As in real systems, the identifiers have gaps and different lengths, and some are not known. */
const IDENTIFIERS: Readonly<Record<string, string>> = {
  placement_id: '7000000 + placement * 13',
  container_id: '410000 + container * 7',
  publisher_account_id: '52000 + account * 3',
  publisher_company_id: '1000 + company',
  advertiser_company_id: `2000 + campaign % ${ADVERTISERS}`,
  campaign_id: '88000 + campaign * 3',
  campaign_line_id: `CASE WHEN ${chance(15, 'without line')} THEN NULL ELSE 930000 + line * 7 END`,
  creative_id: `CASE WHEN ${chance(15, 'without line')} THEN NULL ELSE 9007199254740000 + creative END`,
};

/** SQL for an identifier column's value. A column that is not in the list gets made-up identifiers. */
export const identifierOf = (column: string): string =>
  IDENTIFIERS[column] ?? `1 + ${skewedBelow(1000, draw(column))}`;

/** The texts of each column, the most frequent text first. NULL means that the value is not known. */
const TEXTS: Readonly<Record<string, readonly (string | null)[]>> = {
  device_or_proxy: [
    'Mobile',
    'Desktop',
    'Apple Mail Privacy',
    'Gmail Image Proxy',
    'Tablet',
    'Yahoo Mail Proxy',
    null,
  ],
  demand_origin: [
    'Direct',
    'Open Exchange',
    'Private Marketplace',
    'Programmatic Guaranteed',
    'Network',
    null,
  ],
};

/** Texts that break a careless CSV writer, SQL builder or reader. */
const AWKWARD = [
  `O'Brien" OR 1=1 --`,
  'Phone, tablet',
  'two\nlines',
  '"quoted"',
  'Zürich',
  '日本',
  '📱 app',
  ' spaces around ',
  '',
];

const listOf = (texts: readonly (string | null)[]): string =>
  `[${texts.map((text) => (text === null ? 'NULL' : quoteText(text))).join(', ')}]`;

/**
 * SQL for a text column's value. A column that is not in TEXTS gets made-up texts.
 *
 * @param hasAwkwardTexts whether one value in a hundred is an awkward text
 */
export function textOf(column: string, hasAwkwardTexts: boolean): string {
  const texts = TEXTS[column] ?? Array.from({ length: 20 }, (_, index) => `${column} ${index + 1}`);
  const usual = `${listOf(texts)}[1 + ${skewedBelow(texts.length, draw(column))}]`;
  if (!hasAwkwardTexts) return usual;
  return `CASE WHEN ${chance(10, `${column} awkward`)}
    THEN ${listOf(AWKWARD)}[1 + ${below(AWKWARD.length, draw(column))}]
    ELSE ${usual} END`;
}
