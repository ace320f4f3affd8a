import { tables } from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** A command of `npm run lake`, such as `check`. */
export interface LakeCommand {
  /** The help text: how to call the command, and its options. */
  readonly usage: string;
  /**
   * Runs the command and resolves to its exit code. An OperatorFault is a message for the operator.
   *
   * @param args the arguments without the command's name
   */
  run(args: string[], say: (text: string) => void): Promise<number>;
}

/** The value of an option that can have these values only, if it is given. Throws an OperatorFault that lists them. */
export function oneOf<const T extends string>(
  option: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  const found = known.find((name) => name === text);
  if (found !== undefined || text === undefined) return found;
  throw new OperatorFault(`${option} is ${JSON.stringify(text)}; it can be ${known.join(', ')}`);
}

export const TABLES = tables.map(({ name }) => name);

/** The first and the last of days that are in order: `2026-01-30 to 2026-01-31`. */
export function windowOf(days: readonly { readonly day: string }[]): string {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  return first === last ? `${first}` : `${first} to ${last}`;
}
