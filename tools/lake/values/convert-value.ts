import type { Column } from '../../../lib/report/tables.ts';
import { exactAmount } from './exact-amount.ts';
import { exactInstant, type TimeOptions } from './exact-instant.ts';
import { exactInteger } from './exact-integer.ts';
import { type ExactValue, isInteger, type NoValue } from './exact-value.ts';

/** What the operator decides about values that can be read in more than one way, or only inexactly. */
export interface ValueOptions extends TimeOptions {
  /** Whether amounts with more than six digits after the point are rounded. */
  readonly round?: boolean;
}

/**
 * The SQL that converts a value of a file to one of the contract's columns, without losing a digit.
 *
 * @param source SQL for the value in the file
 * @param found DuckDB's name of the value's type
 */
export function convertValue(
  { name, type }: Column,
  source: string,
  found: string,
  options: ValueOptions,
): ExactValue | NoValue {
  if (type === 'timestamp') return exactInstant(name, source, found, options);
  if (type === 'bigint') return exactInteger(name, source, found);
  if (type === 'varchar') return text(source, found);
  return exactAmount(name, source, found, options.round ?? false);
}

function text(x: string, found: string): ExactValue | NoValue {
  const isText = isInteger(found) || /^(VARCHAR|UUID|BOOLEAN|ENUM.*)$/.test(found);
  if (!isText && found !== 'BLOB') return { cure: 'Write text.' };
  return {
    steps: [],
    value: isText ? `CAST(${x} AS VARCHAR)` : `TRY(decode(${x}))`,
    isThere: isText ? 'false' : `${x} IS NOT NULL`,
    shown: x,
    reasons: isText ? [] : [{ when: 'true', loss: 'is no UTF-8. Write text at the source' }],
    tallies: [],
  };
}
