import type { Column } from '../../../lib/report/tables.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { oneOf } from '../lake-command.ts';
import { type ExactInstant, exactInstant, type TimeOptions, UNITS } from './exact-instant.ts';
import { exactAmount, exactInteger } from './exact-number.ts';
import { type ExactValue, plainValue } from './exact-value.ts';
import { type ZoneClocks, zoneClocks } from './time-zone.ts';

/** What the operator decides about values that can be read in more than one way, or only inexactly. */
export interface ValueOptions extends TimeOptions {
  /** Whether amounts with more than six digits after the point are rounded. */
  readonly round?: boolean | undefined;
}

/**
 * The SQL that converts a value of a file to one of the contract's columns, without losing a digit.
 *
 * @param x SQL for the value in the file
 * @param found the name of the value's type. The table of types must allow it for the column
 */
export function convertValue(
  { name, type }: Column,
  x: string,
  found: string,
  options: ValueOptions,
): ExactValue | ExactInstant {
  if (type === 'timestamp') return exactInstant(name, x, found, options);
  if (type === 'bigint') return exactInteger(name, x, found);
  if (type !== 'varchar') return exactAmount(name, x, found, options.round ?? false);
  return found === 'BLOB'
    ? plainValue(x, `TRY(decode(${x}))`, [['true', 'is no UTF-8. Write text at the source']])
    : plainValue(x, `CAST(${x} AS VARCHAR)`, []);
}

/** Reads the options about values, as the operator writes them. Throws an OperatorFault that lists what each can be. */
export function valueOptions(
  written: Readonly<Partial<Record<'time-zone' | 'time-unit' | 'ambiguous', string | undefined>>>,
): TimeOptions {
  const { 'time-zone': timeZone, 'time-unit': unit, ambiguous } = written;
  if (ambiguous !== undefined && timeZone === undefined)
    throw new OperatorFault('--ambiguous decides about local times: say --time-zone too');
  return {
    clocks: timeZone === undefined ? undefined : clocksOf(timeZone),
    ambiguous: oneOf('--ambiguous', ambiguous, ['earlier', 'later']),
    timeUnit: oneOf('--time-unit', unit, UNITS),
  };
}

function clocksOf(timeZone: string): ZoneClocks {
  try {
    return zoneClocks(timeZone);
  } catch {
    throw new OperatorFault(
      `--time-zone is ${JSON.stringify(timeZone)}, which is no zone. It can be a name of the IANA list, for example Europe/Berlin, America/New_York or UTC`,
    );
  }
}
