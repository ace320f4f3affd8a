import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';

const MOST_LINES = 50;
const MOST_ALIKE = 3;

/** The part of a fault that differs between files: the number of records that have it, and an example. */
const COUNT_AND_EXAMPLE = /in [\d,]+ records?, (it|"(\\.|[^"\\])*")( for example)? /;

/**
 * A refusal that lists the faults of a conversion, each as `<file>: <fault>`. If many files have the same fault, such
 * as the many part files that Spark writes, only the first few are shown.
 */
export function refusal(faults: readonly string[]): OperatorFault {
  const alike = Map.groupBy(faults, (fault) =>
    fault.slice(fault.indexOf(': ')).replace(COUNT_AND_EXAMPLE, ''),
  );
  const told = [...alike.values()].flatMap((same) => [
    ...same.slice(0, MOST_ALIKE),
    ...(same.length > MOST_ALIKE ? [`and alike in ${counted(same.length - MOST_ALIKE, 'more file')}`] : []),
  ]);
  const shown = told.slice(0, MOST_LINES);
  if (told.length > MOST_LINES) shown.push(`and ${counted(told.length - MOST_LINES, 'line')} more`);
  const count = faults.length === 1 ? 'One thing stands' : `${counted(faults.length, 'thing')} stand`;
  return new OperatorFault(`Nothing was written. ${count} against it:\n  ${shown.join('\n  ')}`);
}
