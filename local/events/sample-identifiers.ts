import { below, chance, draw, skewedBelow } from './draws.ts';

/**
 * Who belongs to whom. A record draws its placement and its creative; the others follow from these two by
 * drawing on the child's number, the same in both tables. So a placement always has the same container.
 */
export const HIERARCHY: readonly Readonly<Record<string, string>>[] = [
  { placement: skewedBelow(6000, draw('placement')), creative: skewedBelow(8000, draw('creative')) },
  {
    container: below(900, draw('container of placement', 'placement')),
    line: below(3000, draw('line of creative', 'creative')),
  },
  {
    account: skewedBelow(160, draw('account of container', 'container')),
    campaign: below(1000, draw('campaign of line', 'line')),
  },
  {
    company: skewedBelow(60, draw('company of account', 'account')),
    advertiser: skewedBelow(140, draw('advertiser of campaign', 'campaign')),
  },
];

/** The identifiers of real systems have gaps, lengths of their own and holes where something isn't known. */
const IDENTIFIERS: Readonly<Record<string, string>> = {
  placement_id: '7000000 + placement * 13',
  container_id: '410000 + container * 7',
  publisher_account_id: '52000 + account * 3',
  publisher_company_id: '1000 + company',
  advertiser_company_id: '2000 + advertiser',
  campaign_id: '88000 + campaign * 3',
  campaign_line_id: `CASE WHEN ${chance(15, 'without line')} THEN NULL ELSE 930000 + line * 7 END`,
  creative_id: `CASE WHEN ${chance(15, 'without line')} THEN NULL ELSE 9007199254740000 + creative END`,
};

/** SQL for an identifier column's value. A column that is not in the list gets made-up identifiers. */
export const identifierOf = (column: string): string =>
  IDENTIFIERS[column] ?? `1 + ${skewedBelow(1000, draw(column))}`;
