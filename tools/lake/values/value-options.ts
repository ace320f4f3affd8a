import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import type { ValueOptions } from './convert-value.ts';
import { TIME_UNITS, type TimeUnit } from './time-units.ts';
import type { Ambiguous } from './time-zone.ts';

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
