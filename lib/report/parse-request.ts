import Negotiator from 'negotiator';
import * as v from 'valibot';
import { type Fault, InvalidRequest } from '../problems/problem.ts';
import { dimensionsOf, type Field, type Report, reports } from './catalogue.ts';
import { didYouMean, quoted, shortened } from './did-you-mean.ts';
import { type Filter, filteredField, filterParameter, filterSchema, instant } from './filter.ts';
import { DAY_MS, formatUtcTime, MAX_WINDOW_DAYS, SECOND_MS, UTC_TIME_FORM, type Window } from './utc-time.ts';

/** The versions of the API that the service supports, the oldest first. */
export const API_VERSIONS = ['1.0'];
/** The longest window of a request for the states of days, in days: a little more than a year. */
export const MAX_STATE_DAYS = 400;

/** A request that keeps every rule of docs/contract.md#the-request, with defaults for what was left out. */
export interface ReportRequest {
  readonly report: Report;
  /** The fields in requested order. The report is grouped by the dimensions among them. */
  readonly requestedFields: readonly Field[];
  readonly window: Window;
  /** At most one for each field, sorted as in the catalogue. A record must pass all of them. */
  readonly filters: readonly Filter[];
}

/** Decoded query parameters with all their values. */
type Parameters = Readonly<Record<string, readonly string[] | undefined>>;

const LIST_PARAMETERS = ['requestedFields', 'groupBy'];
const DAYS_PARAMETERS = ['startInclusive', 'endExclusive', 'api-version'];
const SINGLE_PARAMETERS = ['requestedFields', 'startInclusive', 'endExclusive', 'groupBy', 'api-version'];

/** How several libraries write a list: `name[]=a&name[]=b` or `name[0]=a&name[1]=b`. */
const INDEXED = /^(.+?)\[\d*\]$/s;

const single = (hint: string) =>
  v.pipe(
    v.optional(v.array(v.string()), []),
    v.minLength(1, 'Missing: this parameter is required.'),
    v.maxLength(1, ({ input }) => `Given ${input.length} times: give it once${hint}.`),
    v.transform(([value]) => value ?? ''),
  );
const once = single('');

const utcTime = v.pipe(
  once,
  instant(SECOND_MS, (text) => `${quoted(text)} is not a date and time of the form ${UTC_TIME_FORM}.`),
);

const apiVersion = v.pipe(
  once,
  v.picklist(
    API_VERSIONS,
    ({ input }) => `${quoted(String(input))} is not supported. Supported: ${API_VERSIONS.join(', ')}.`,
  ),
);

/** Parses a list of field names. Each must be known, and occur only once. */
const fieldList = <F extends Field>(known: readonly F[], complain: (unknown: string) => string) =>
  v.pipe(
    single(', its names separated by commas'),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const fields = new Set<F>();
      const faults = dataset.value.split(',').flatMap((name, index) => {
        const field = known.find((candidate) => candidate.name === name);
        if (name === '') return [`Entry ${index + 1} of the list is empty.`];
        if (!field) return [complain(name)];
        if (fields.has(field)) return [`${quoted(name)} is listed more than once.`];
        fields.add(field);
        return [];
      });
      for (const message of faults) addIssue({ message });
      return faults.length > 0 ? NEVER : [...fields];
    }),
  );

function readerOf(parameters: Parameters) {
  const faults: Fault[] = [];
  const fault = (parameter: string, detail: string) =>
    faults.push({ parameter: shortened(parameter), detail });
  return {
    faults,
    fault,
    /** The parameter's value; undefined if it has a fault. */
    read<S extends v.GenericSchema>(parameter: string, schema: S) {
      const result = v.safeParse(schema, parameters[parameter]);
      if (result.success) return result.output;
      for (const { message } of result.issues) fault(parameter, message);
      return undefined;
    },
    /** The window between two instants, if both could be read. */
    windowOf(start: number | undefined, end: number | undefined, mostDays: number): Window | undefined {
      if (start === undefined || end === undefined) return undefined;
      const longest = mostDays * DAY_MS;
      if (start >= end) fault('endExclusive', 'Must be later than startInclusive.');
      else if (end - start > longest)
        fault(
          'endExclusive',
          `The window is longer than ${mostDays} days. Send ${Math.ceil((end - start) / longest)} requests: the first ends at ` +
            `${formatUtcTime(start + longest)}, and each next one begins where the one before it ends.`,
        );
      return { start, end };
    },
  };
}

/** Reads a report request (docs/contract.md#the-request). Throws InvalidRequest, which lists every fault at once. */
export function parseRequest(
  report: Report,
  { parameters, accept }: { readonly parameters: Parameters; readonly accept: string | undefined },
): ReportRequest {
  const { faults, fault, read, windowOf } = readerOf(parameters);
  const names = namesOf(report.fields);
  const dimensions = dimensionsOf(report);
  const complain = (name: string, known = names) => {
    const has = ({ fields }: Report) =>
      namesOf(fields).some((field) => field.toLowerCase() === name.trim().toLowerCase());
    const other = has(report) ? undefined : reports.find(has);
    return `Unknown field ${quoted(name)}. ${other ? `The report ${other.name} has it.` : didYouMean(name, known)}`;
  };
  const complainOfNoDimension = (name: string) =>
    names.includes(name)
      ? `${quoted(name)} is a metric. Only dimensions can stand here: ${namesOf(dimensions).join(', ')}.`
      : complain(name, namesOf(dimensions));

  // If the caller sent the list under an indexed name, the fault for that name says so: "missing" would mislead.
  const isIndexed = Object.keys(parameters).some((name) => INDEXED.exec(name)?.[1] === 'requestedFields');
  const requestedFields =
    parameters['requestedFields'] || !isIndexed
      ? read('requestedFields', fieldList(report.fields, complain))
      : undefined;
  const start = read('startInclusive', utcTime);
  const window = windowOf(start, read('endExclusive', utcTime), MAX_WINDOW_DAYS);

  const groupBy = parameters['groupBy'] && read('groupBy', fieldList(dimensions, complainOfNoDimension));
  if (groupBy && requestedFields) {
    for (const field of groupBy)
      if (!requestedFields.includes(field))
        fault('groupBy', `${quoted(field.name)} must also be in requestedFields.`);
    for (const field of requestedFields)
      if (field.role === 'dimension' && !groupBy.includes(field))
        fault(
          'groupBy',
          `${quoted(field.name)} is a requested dimension: add it here or leave it out of requestedFields.`,
        );
  }

  const filters: Filter[] = [];
  for (const parameter of Object.keys(parameters)) {
    const field = filteredField(parameter);
    const dimension = dimensions.find(({ name }) => name === field);
    if (dimension) {
      const filter = read(parameter, filterSchema(dimension));
      if (filter) filters.push(filter);
    } else if (field !== undefined) fault(parameter, complainOfNoDimension(field));
    else if (!SINGLE_PARAMETERS.includes(parameter)) fault(parameter, reportParameterFault(parameter));
  }
  // The same filters make the same query, whatever their order in the request.
  filters.sort((a, b) => dimensions.indexOf(a.dimension) - dimensions.indexOf(b.dimension));

  read('api-version', apiVersion);
  if (!acceptsCsv(accept)) fault('Accept', 'The report is text/csv. Send Accept: text/csv, or none.');

  if (faults.length > 0 || !requestedFields || !window) throw new InvalidRequest(faults);
  return { report, requestedFields, window, filters };
}

/** Parameters with which other services cut their answers into pages. */
const PAGING = /^(?:limit|offset|cursor|page|page_?size|per_?page|max_?results|top|skip)$/i;

const unknownParameter = (parameter: string, known: readonly string[]): string =>
  PAGING.test(parameter)
    ? 'Unknown parameter. There are no pages: the answer is one, and whole. Leave it out.'
    : `Unknown parameter. ${didYouMean(parameter, known)}`;

const namesOf = (fields: readonly Field[]): string[] => fields.map(({ name }) => name);

function reportParameterFault(parameter: string): string {
  const name = INDEXED.exec(parameter)?.[1] ?? '';
  if (filteredField(name) !== undefined)
    return `Write ${shortened(name)}. For several values, repeat it: ${shortened(name)}=…&${shortened(name)}=…`;
  if (LIST_PARAMETERS.includes(name))
    return `Write ${name}, once, its names separated by commas: ${name}=FieldName,FieldName`;
  const form = filterParameter('FieldName');
  if (parameter.toLowerCase().startsWith('filter'))
    return `Unknown parameter. A filter has the form ${form}=value.`;
  return unknownParameter(parameter, [...SINGLE_PARAMETERS, form]);
}

/** Whether `Accept` is absent or allows `text/csv`, with the charset of the reports or without one. */
const acceptsCsv = (accept: string | undefined) =>
  accept === undefined ||
  new Negotiator({ headers: { accept } }).mediaType(['text/csv', 'text/csv; charset=utf-8']) !== undefined;

/** Reads the window from a request for the states of days. Throws InvalidRequest, which lists every fault at once. */
export function parseDaysRequest(parameters: Parameters): Window {
  const { faults, fault, read, windowOf } = readerOf(parameters);
  const start = read('startInclusive', utcTime);
  const end = read('endExclusive', utcTime);
  read('api-version', apiVersion);
  for (const parameter of Object.keys(parameters))
    if (!DAYS_PARAMETERS.includes(parameter)) fault(parameter, unknownParameter(parameter, DAYS_PARAMETERS));
  const window = windowOf(start, end, MAX_STATE_DAYS);
  if (faults.length > 0 || !window) throw new InvalidRequest(faults);
  return window;
}
