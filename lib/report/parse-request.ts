import Negotiator from 'negotiator';
import * as v from 'valibot';
import { type Fault, InvalidRequest } from '../answers/problem.ts';
import type { Dimension, Report } from './catalogue.ts';
import { didYouMean, quoted, shortened } from './did-you-mean.ts';
import { type FilterValue, filterValueSchema } from './filter-value.ts';
import { lengthInDays, parseUtcTime, UTC_TIME_FORM, type Window } from './utc-time.ts';

export const API_VERSIONS = ['1.0'];

/** docs/contract.md#the-window */
export const MAX_WINDOW_DAYS = 32;

/** Rows pass if the dimension has any of the values. */
export interface Filter {
  readonly field: string;
  readonly values: readonly FilterValue[];
}

/** A request that keeps every rule of docs/contract.md#the-request. */
export interface ReportRequest {
  readonly report: Report;
  /** Names of the catalogue, in requested order. The requested dimensions are the grouping. */
  readonly requestedFields: readonly string[];
  readonly window: Window;
  /** At most one a field, in the catalogue's order; all must hold. */
  readonly filters: readonly Filter[];
}

/** What the caller sent: decoded query parameters with all their values, and the Accept header. */
export interface ReportQuery {
  readonly parameters: Readonly<Record<string, readonly string[] | undefined>>;
  readonly accept: string | undefined;
}

const LIST_PARAMETERS = ['requestedFields', 'groupBy'];
const SINGLE_PARAMETERS = ['requestedFields', 'startInclusive', 'endExclusive', 'groupBy', 'api-version'];
const FILTER = /^filter\[([^[\]]+)\]$/;

/** How several libraries write a list: `name[]=a&name[]=b` or `name[0]=a&name[1]=b`. */
const INDEXED = /^(.+?)\[\d*\]$/s;

const given = (hint: string) =>
  v.pipe(
    v.optional(v.array(v.string()), []),
    v.minLength(1, 'Missing: this parameter is required.'),
    v.maxLength(1, ({ input }) => `Given ${input.length} times: give it once${hint}.`),
    v.transform(([value]) => value ?? ''),
  );

const once = given('');

/** A parameter that is an instant. */
export const utcTime = v.pipe(
  once,
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const time = parseUtcTime(dataset.value);
    if (time !== undefined) return time;
    addIssue({
      message: `${quoted(dataset.value)} is not a date and time of the form ${UTC_TIME_FORM}.`,
    });
    return NEVER;
  }),
);

export const apiVersion = v.pipe(
  once,
  v.picklist(
    API_VERSIONS,
    ({ input }) => `${quoted(String(input))} is not supported. Supported: ${API_VERSIONS.join(', ')}.`,
  ),
);

/** A list of names, each known and there once. */
const nameList = (known: readonly string[], complain: (unknown: string) => string) =>
  v.pipe(
    given(', its names separated by commas'),
    v.transform((list) => list.split(',')),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const seen = new Set<string>();
      for (const [index, name] of dataset.value.entries()) {
        if (name === '') addIssue({ message: `Entry ${index + 1} of the list is empty.` });
        else if (!known.includes(name)) addIssue({ message: complain(name) });
        else if (seen.has(name)) addIssue({ message: `${quoted(name)} is listed more than once.` });
        seen.add(name);
      }
    }),
  );

/**
 * Reads a report request (docs/contract.md#the-request). Throws InvalidRequest that lists every fault at once.
 */
export function parseRequest(report: Report, { parameters, accept }: ReportQuery): ReportRequest {
  const faults: Fault[] = [];
  const fault = (parameter: string, detail: string) =>
    faults.push({ parameter: shortened(parameter), detail });
  const read = <S extends v.GenericSchema>(parameter: string, schema: S, input: unknown) => {
    const result = v.safeParse(schema, input);
    if (result.success) return result.output;
    for (const { message } of result.issues) fault(parameter, message);
    return undefined;
  };

  const names = Object.keys(report.fields);
  const dimensions = names.filter((name) => report.fields[name]?.role === 'dimension');
  const complain = (name: string) => `Unknown field ${quoted(name)}. ${didYouMean(name, names)}`;
  const complainOfNoDimension = (name: string) =>
    names.includes(name)
      ? `${quoted(name)} is a metric. Only dimensions can stand here: ${dimensions.join(', ')}.`
      : `Unknown field ${quoted(name)}. ${didYouMean(name, dimensions)}`;

  // Where the list is there under another name, that name's fault says it; "missing" would lead elsewhere.
  const requestedFields =
    parameters['requestedFields'] || !isIndexed('requestedFields', parameters)
      ? read('requestedFields', nameList(names, complain), parameters['requestedFields'])
      : undefined;
  const start = read('startInclusive', utcTime, parameters['startInclusive']);
  const end = read('endExclusive', utcTime, parameters['endExclusive']);
  if (start !== undefined && end !== undefined) {
    if (start >= end) fault('endExclusive', 'Must be later than startInclusive.');
    else if (lengthInDays({ start, end }) > MAX_WINDOW_DAYS)
      fault('endExclusive', `The window is longer than ${MAX_WINDOW_DAYS} days.`);
  }

  if (parameters['groupBy']) {
    const groupBy = read('groupBy', nameList(dimensions, complainOfNoDimension), parameters['groupBy']);
    if (groupBy && requestedFields) {
      for (const name of groupBy)
        if (!requestedFields.includes(name))
          fault('groupBy', `${quoted(name)} must also be in requestedFields.`);
      for (const name of requestedFields)
        if (dimensions.includes(name) && !groupBy.includes(name))
          fault(
            'groupBy',
            `${quoted(name)} is a requested dimension: add it here or leave it out of requestedFields.`,
          );
    }
  }

  const filters: Filter[] = [];
  for (const [parameter, values] of Object.entries(parameters)) {
    const field = FILTER.exec(parameter)?.[1];
    if (field === undefined) {
      if (!SINGLE_PARAMETERS.includes(parameter)) fault(parameter, unknownParameter(parameter));
    } else if (!dimensions.includes(field)) {
      fault(parameter, complainOfNoDimension(field));
    } else {
      const schema = v.array(filterValueSchema(report.fields[field] as Dimension));
      const parsed = read(parameter, schema, values);
      if (parsed) filters.push({ field, values: [...new Set(parsed)].sort() });
    }
  }
  filters.sort((a, b) => names.indexOf(a.field) - names.indexOf(b.field));

  read('api-version', apiVersion, parameters['api-version']);
  if (!acceptsCsv(accept)) fault('Accept', 'The report is text/csv. Send Accept: text/csv, or none.');

  if (faults.length > 0 || !requestedFields || start === undefined || end === undefined)
    throw new InvalidRequest(faults);
  return { report, requestedFields, window: { start, end }, filters };
}

const isIndexed = (list: string, parameters: ReportQuery['parameters']) =>
  Object.keys(parameters).some((name) => INDEXED.exec(name)?.[1] === list);

function unknownParameter(parameter: string): string {
  const name = INDEXED.exec(parameter)?.[1] ?? '';
  if (FILTER.test(name))
    return `Write ${shortened(name)}. For several values, repeat it: ${shortened(name)}=…&${shortened(name)}=…`;
  if (LIST_PARAMETERS.includes(name))
    return `Write ${name}, once, its names separated by commas: ${name}=FieldName,FieldName`;
  if (parameter.toLowerCase().startsWith('filter'))
    return 'Unknown parameter. A filter has the form filter[FieldName]=value.';
  return `Unknown parameter. ${didYouMean(parameter, [...SINGLE_PARAMETERS, 'filter[FieldName]'])}`;
}

/** Absent, `*\/*`, `text/*` and `text/csv` (with any charset) do; there is no other form to choose. */
const acceptsCsv = (accept: string | undefined) =>
  accept === undefined ||
  new Negotiator({ headers: { accept } }).mediaType(['text/csv', 'text/csv; charset=utf-8']) !== undefined;
