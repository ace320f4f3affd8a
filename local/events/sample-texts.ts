import { quoteText } from '../../lib/report/quote-sql.ts';
import { below, chance, draw, skewedBelow } from './draws.ts';

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
