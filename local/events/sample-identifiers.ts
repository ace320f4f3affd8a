import { below, chance, draw, skewedBelow } from './draws.ts';

const ADVERTISERS = 140;
const CAMPAIGNS_EACH = 12;
const LINES_EACH = 4;
const CREATIVES_EACH = 3;

/**
 * When the campaigns of an advertiser run, by their number among its campaigns; all others run in the whole period. Most
 * advertisers end and start theirs on days of their own. The largest one, whose number is 0, ends one on 23 February,
 * and starts one on 10 and one on 24 February.
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
 * Who belongs to whom, the same in both tables. The layers are drawn one after the other. A record draws a placement; the
 * container is drawn from the placement's number, the account from the container's, so that a placement always has the
 * same container. A record also draws a campaign, and one of that campaign's lines and creatives. If that campaign does
 * not run on the record's day, one that always runs takes its place.
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

/** The identifiers of real systems have gaps, lengths of their own and holes where something isn't known. */
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
