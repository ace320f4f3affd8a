import { type Fault, InvalidRequest } from '../../../lib/problems/problem.ts';
import { type Report, reportOf, reports } from '../../../lib/report/catalogue.ts';
import { filterParameter } from '../../../lib/report/filter.ts';
import { API_VERSIONS, parseRequest } from '../../../lib/report/parse-request.ts';
import { reportPath } from '../../../lib/routes.ts';
import type { Choice } from './choice.ts';
import { addDays, type Days } from './presets.ts';

/** The parameters of a request's query, in the order of the contract. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** A request that was sent for an answer, and the days that it asks for. */
export interface AskedRequest {
  readonly days: Days;
  readonly parameters: Parameters;
}

const midnight = (day: string) => (day === '' ? [] : [`${day}T00:00:00Z`]);

/**
 * The end of a day. A text that is no day is sent as it is, so that the service reports this text and not a missing
 * parameter.
 */
const endOf = (day: string) => midnight(addDays(day, 1) || day);

/** The parameters of the request for a choice. */
export function parametersOf({ fields, filters }: Choice, { first, last }: Days): Parameters {
  const named = (name: string, values: readonly string[]) => values.map((value) => [name, value] as const);
  return [
    ...named('requestedFields', fields.length > 0 ? [fields.join(',')] : []),
    ...named('startInclusive', midnight(first)),
    ...named('endExclusive', endOf(last)),
    ...filters.flatMap((filter) => named(filterParameter(filter.field), filter.values)),
    ...named('api-version', API_VERSIONS.slice(-1)),
  ];
}

/** The chosen report, from the catalogue. */
export function chosenReport({ report }: Choice): Report {
  const found = reportOf(report) ?? reports[0];
  if (!found) throw new TypeError('the catalogue is empty');
  return found;
}

/** The faults of a request. The service's own rules find them, so they are in the service's own words. */
export function faultsOf(report: Report, parameters: Parameters): readonly Fault[] {
  const values: Record<string, string[]> = {};
  for (const [name, value] of parameters) values[name] = [...(values[name] ?? []), value];
  try {
    parseRequest(report, { parameters: values, accept: 'text/csv' });
    return [];
  } catch (error) {
    if (error instanceof InvalidRequest) return error.faults;
    throw error;
  }
}

/**
 * Percent-encodes the characters that a shell or a URL would misread. Keeps commas and colons, so that people can read
 * the URL.
 */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll("'", '%27').replaceAll('%2C', ',').replaceAll('%3A', ':');

/**
 * The request's URL.
 *
 * @param service the service's address, with a slash at its end
 */
export const urlOf = (service: string, report: Report, parameters: Parameters): string =>
  `${service.replace(/\/$/, '')}${reportPath(report)}?` +
  parameters.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
