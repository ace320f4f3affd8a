import * as v from 'valibot';
import { type Fault, InvalidRequest } from '../problems/problem.ts';
import { didYouMean } from './did-you-mean.ts';
import { apiVersion, utcTime } from './parse-request.ts';
import { lengthInDays, type Window } from './utc-time.ts';

/** The longest window of a request for the states of days, in days: a little more than a year. */
export const MAX_STATE_DAYS = 400;

const PARAMETERS = ['startInclusive', 'endExclusive', 'api-version'];

/** Reads the window from a request for the states of days. Throws InvalidRequest, which lists every fault at once. */
export function parseDaysRequest(
  parameters: Readonly<Record<string, readonly string[] | undefined>>,
): Window {
  const faults: Fault[] = [];
  const read = <S extends v.GenericSchema>(parameter: string, schema: S) => {
    const result = v.safeParse(schema, parameters[parameter]);
    if (result.success) return result.output;
    for (const { message } of result.issues) faults.push({ parameter, detail: message });
    return undefined;
  };
  const start = read('startInclusive', utcTime);
  const end = read('endExclusive', utcTime);
  read('api-version', apiVersion);
  for (const parameter of Object.keys(parameters))
    if (!PARAMETERS.includes(parameter))
      faults.push({ parameter, detail: `Unknown parameter. ${didYouMean(parameter, PARAMETERS)}` });
  if (start !== undefined && end !== undefined) {
    if (start >= end)
      faults.push({ parameter: 'endExclusive', detail: 'Must be later than startInclusive.' });
    else if (lengthInDays({ start, end }) > MAX_STATE_DAYS)
      faults.push({ parameter: 'endExclusive', detail: `The window is longer than ${MAX_STATE_DAYS} days.` });
  }
  if (faults.length > 0 || start === undefined || end === undefined) throw new InvalidRequest(faults);
  return { start, end };
}
