import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { below, chance, draw, skewedBelow } from './draws.ts';

/** The ratios of a table's counts. */
interface Funnel {
  /** By column: the number of events for every 100,000 events of the first column. */
  readonly counts: Readonly<Record<string, number>>;
  /**
   * The identifier (`placement`, `campaign`) whose number decides a factor from 0.5 to 1.5. In pre-aggregated records,
   * the factor multiplies every count but the first.
   */
  readonly appealOf: string;
}

const PER = 100_000;

const FUNNELS: readonly Funnel[] = [
  { counts: { served_ads: PER, placement_opens: 20_000, clicks: 1_900 }, appealOf: 'placement' },
  { counts: { impressions: PER, clicks: 1_600, conversions: 40 }, appealOf: 'campaign' },
];

const funnelOf = (counts: readonly string[]): Funnel | undefined =>
  FUNNELS.find((funnel) => counts.includes(Object.keys(funnel.counts)[0] as string));

/** The name of a count in the SQL that makes a record. No table has a column of such a name. */
export const counted = (column: string): string => `counted ${column}`;

const countIn = (column: string): string => quoteName(counted(column));

/** SQL for the facts on which a record's counts depend. `counts` are the columns that hold counts. */
export const recordFacts = (counts: readonly string[]): Readonly<Record<string, string>> => {
  const rates = Object.values(funnelOf(counts)?.counts ?? {});
  const kinds = rates.reduce((sum, count) => sum + count, 0);
  return { is_rollup: chance(70, 'rollup'), kind: below(kinds, draw('kind')) };
};

/** SQL for the first count of a pre-aggregated record. */
const ROLLED_UP = `(100 + ${below(501, draw('rolled up'))})`;

/**
 * SQL for a count. A raw event has 1 in one of its counts and 0 in the others. A pre-aggregated record holds many
 * events, so its counts are higher.
 */
export function countOf(column: string, counts: readonly string[]): string {
  const funnel = funnelOf(counts);
  const rates = Object.entries(funnel?.counts ?? {});
  const index = rates.findIndex(([name]) => name === column);
  // A column that is not in the table's funnel gets made-up counts.
  if (!funnel || index < 0)
    return `CASE WHEN is_rollup THEN 2 + ${below(60, draw(column))} WHEN ${chance(200, column)} THEN 1 ELSE 0 END`;
  const [, rate] = rates[index] as [string, number];
  const from = rates.slice(0, index).reduce((sum, [, before]) => sum + before, 0);
  const appeal = `(500 + ${below(1001, draw('appeal', funnel.appealOf))})`;
  const whole = PER * 1000;
  const several =
    index === 0
      ? ROLLED_UP
      : `(${ROLLED_UP} * ${rate} * ${appeal} + ${below(whole, draw(column))}) // ${whole}`;
  return `CASE WHEN is_rollup THEN ${several} WHEN kind BETWEEN ${from} AND ${from + rate - 1} THEN 1 ELSE 0 END`;
}

/** SQL for the count of a coarser-level record, which has only this count. One in five is pre-aggregated. */
export const COARSER_COUNT = `CASE WHEN ${chance(200, 'coarser rollup')} THEN ${ROLLED_UP} * 2 // 5 ELSE 1 END`;

/** How an amount of money follows from a record's counts. */
interface Price {
  /** The counts that `amount` uses. */
  readonly of: readonly string[];
  /** SQL for the amount in millionths. */
  readonly amount: string;
}

const PRICES: Readonly<Record<string, Price>> = {
  // $0.80 to $3.20 for 1,000 ads, by placement.
  revenue: {
    of: ['served_ads'],
    amount: `${countIn('served_ads')} * (800 + ${below(2_400, draw('ad', 'placement'))})`,
  },
  // $1.50 to $6.00 for 1,000 impressions, or $0.15 to $0.40 for a click, by campaign.
  spend: {
    of: ['impressions', 'clicks'],
    amount: `CASE WHEN ${chance(300, 'paid by click', 'campaign')}
      THEN ${countIn('clicks')} * (150000 + ${below(250_000, draw('click', 'campaign'))})
      ELSE ${countIn('impressions')} * (1500 + ${below(4_500, draw('impression', 'campaign'))}) END`,
  },
  // $8 to $48 for a conversion.
  conversion_revenue: {
    of: ['conversions'],
    amount: `${countIn('conversions')} * (8000000 + ${below(40_000_000, draw('conversion'))})`,
  },
};

/** SQL for a made-up amount: 0 in 60 % of the records, and mostly small in the others. */
const madeUpAmount = (column: string): string =>
  `CASE WHEN ${chance(400, `${column} due`)} THEN 1 + ${skewedBelow(100_000, draw(column))} ELSE 0 END`;

/**
 * SQL for an amount of money to the millionth. The amount is the price of the record's counts, up to a tenth more or
 * less. In a few records it is a correction, below zero. A column gets made-up amounts if PRICES lacks it, or if the
 * table lacks a count of its price.
 */
export function moneyOf(column: string, counts: readonly string[]): string {
  const price = PRICES[column];
  const amount = price?.of.every((count) => counts.includes(count)) ? price.amount : madeUpAmount(column);
  const varies = draw(`${column} varies`);
  return `CAST((${amount}) * CASE WHEN ${below(1000, varies)} < 3 THEN -1000 ELSE 900 + ${below(201, varies)} END // 1000
   AS DECIMAL(18,0)) * 0.000001`;
}

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
    ...['Mobile', 'Desktop', 'Apple Mail Privacy', 'Gmail Image Proxy', 'Tablet', 'Yahoo Mail Proxy'],
    null,
  ],
  demand_origin: [
    ...['Direct', 'Open Exchange', 'Private Marketplace', 'Programmatic Guaranteed', 'Network'],
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
