import type { Column } from '../../../lib/report/tables.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { exactAmount } from './exact-amount.ts';
import { exactInstant, type TimeOptions } from './exact-instant.ts';
import { exactInteger } from './exact-integer.ts';
import type { ExactValue } from './exact-value.ts';
import { TIME_UNITS, type TimeUnit } from './time-text.ts';
import type { Ambiguous } from './time-zone.ts';

/** What the operator decides about values that can be read in more than one way, or only inexactly. */
export interface ValueOptions extends TimeOptions {
  /** Whether amounts with more than six digits after the point are rounded. */
  readonly round?: boolean;
}

/**
 * The SQL that converts a value of a file to one of the contract's columns, without losing a digit.
 *
 * @param source SQL for the value in the file
 * @param found the name of the value's type. The table of types must allow it for the column
 */
export function convertValue(
  { name, type }: Column,
  source: string,
  found: string,
  options: ValueOptions,
): ExactValue {
  if (type === 'timestamp') return exactInstant(name, source, found, options);
  if (type === 'bigint') return exactInteger(name, source, found);
  if (type === 'varchar') return text(source, found);
  return exactAmount(name, source, found, options.round ?? false);
}

const text = (x: string, found: string): ExactValue => ({
  ...{ steps: [], shown: x, tallies: [] },
  ...(found === 'BLOB'
    ? {
        value: `TRY(decode(${x}))`,
        isThere: `${x} IS NOT NULL`,
        reasons: [{ when: 'true', loss: 'is no UTF-8. Write text at the source' }],
      }
    : { value: `CAST(${x} AS VARCHAR)`, isThere: 'false', reasons: [] }),
});

/** The options of `convert` about values, as the operator writes them. */
interface Written {
  readonly 'time-zone'?: string | undefined;
  readonly ambiguous?: string | undefined;
  readonly 'time-unit'?: string | undefined;
  readonly round?: boolean | undefined;
}

/** Reads the options about values. Throws an OperatorFault that lists what an option can be. */
export function valueOptions(written: Written): ValueOptions {
  const { 'time-zone': zone, ambiguous, 'time-unit': unit, round = false } = written;
  if (ambiguous !== undefined && zone === undefined)
    throw new OperatorFault('--ambiguous decides about local times: say --time-zone too');
  return {
    round,
    ...(zone !== undefined && { timeZone: zoneOf(zone) }),
    ...(ambiguous !== undefined && {
      ambiguous: oneOf<Ambiguous>('--ambiguous', ambiguous, ['earlier', 'later']),
    }),
    ...(unit !== undefined && {
      timeUnit: oneOf('--time-unit', unit, Object.keys(TIME_UNITS) as TimeUnit[]),
    }),
  };
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((name) => name === text);
  if (found !== undefined) return found;
  throw new OperatorFault(`${option} is "${text}"; it can be ${known.join(', ')}`);
}

function zoneOf(text: string): string {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: text });
    return text;
  } catch {
    throw new OperatorFault(
      `--time-zone is "${text}", which is no zone. It can be a name of the IANA list, for example Europe/Berlin, America/New_York or UTC`,
    );
  }
}
