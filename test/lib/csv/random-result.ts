import type { CsvColumn } from '../../../lib/csv/retype-csv.ts';
import type { FieldType } from '../../../lib/report/catalogue.ts';
import { randomNumbers } from '../../e2e/known-events.ts';

export interface RandomResult {
  readonly columns: readonly CsvColumn[];
  /** The result in the engine's CSV, sometimes broken by a random fault. */
  readonly file: Buffer;
  /** Gives the length of the file's next piece, in bytes. */
  readonly pieceBytes: () => number;
}

const TYPES: readonly FieldType[] = ['integer', 'float', 'string', 'datetime'];
const WORDS = ['""', '""""', '"",""', '""\n""', '\n', ',', '\r\n', '0', ' ', 'é', '日本', '🦊', 'Desktop'];
const FAULTS = ['"', '""', ',', '\n', '\r', 'x', '-', '.', 'e5', '"\n', '\0', ''];

/** A file of at most `mostRows` rows, cut into random pieces. The same seed gives the same file. */
export function randomResult(seed: number, mostRows: number): RandomResult {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const text = () => {
    const length = below(random() < 0.9 ? 24 : 300);
    let made = random() < 0.5 ? 'a'.repeat(length) : '';
    while (made.length < length) made += pick(WORDS);
    return made;
  };
  const digits = (most: number) => Array.from({ length: 1 + below(most) }, () => below(10)).join('');
  const number = () => `${pick(['', '', '-'])}${digits(32)}${pick(['', '', `.${digits(6)}`])}`;
  const value = ({ type }: CsvColumn) => {
    if (random() < 0.1) return '';
    return `"${type === 'integer' || type === 'float' ? number() : text()}"`;
  };
  const line = (values: readonly string[]) => `${values.join(',')}\n`;

  const columns = Array.from({ length: 1 + below(20) }, (_, index) => ({
    name: `Field${index}`,
    type: pick(TYPES),
  }));
  const rows = Array.from({ length: below(mostRows + 1) }, () => line(columns.map(value)));
  let file = Buffer.from(line(columns.map(() => `"${text()}"`)) + rows.join(''));
  for (let faults = random() < 0.3 ? 1 + below(2) : 0; faults > 0; faults--) {
    const at = below(file.length + 1);
    file = Buffer.concat([file.subarray(0, at), Buffer.from(pick(FAULTS)), file.subarray(at + below(3))]);
  }
  if (random() < 0.05) file = file.subarray(0, below(file.length + 1));

  const mostBytes = pick([1, 5, 20, 40, 70, 150, 500, file.length + 1]);
  return { columns, file, pieceBytes: () => 1 + below(mostBytes) };
}
