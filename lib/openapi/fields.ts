import * as v from 'valibot';
import type { Config } from '../config.ts';
import { type Field, type Report, reports, valuesOf } from '../report/catalogue.ts';
import { MAX_TEXT_CHARACTERS, TIME_FILTER_FORM } from '../report/filter.ts';
import { API_VERSIONS } from '../report/parse-request.ts';
import { MAX_WINDOW_DAYS, UTC_TIME_FORM } from '../report/utc-time.ts';
import { reportPath } from '../routes.ts';
import { describedBy } from './components.ts';

const required = <S extends v.GenericSchema>(schema: S) =>
  describedBy((description) => v.pipe(schema, v.description(description)));
const optional = <S extends v.GenericSchema>(schema: S) =>
  describedBy((description) => v.optional(v.pipe(schema, v.description(description))));
const text = required(v.string());
const integer = v.pipe(v.number(), v.integer());

const values = v.object({
  example: text`One value, without the quotes of the CSV.`,
  unit: text`What it counts or names.`,
  exactness: text`How exact it is.`,
});

const fieldAnswer = v.object({
  name: v.string(),
  role: v.picklist(['dimension', 'metric']),
  type: v.picklist(['datetime', 'integer', 'string', 'float']),
  meaning: v.string(),
  values: required(values)`\
What the values look like in the CSV. Read integers and amounts exactly, not as binary floats.`,
  groupable: required(v.boolean())`Whether it can stand in \`groupBy\`.`,
  filterable: required(v.boolean())`Whether it can be filtered by.`,
  grain: optional(v.picklist(['hour', 'day']))`The unit that times are truncated to.`,
  isAmount: optional(v.boolean())`Whether a metric is an amount of money.`,
  countedBy: optional(v.object({ whereGroupedBy: v.string(), otherwise: v.string() }))`\
The dimensions that a metric is counted by, if that depends on the grouping.`,
});

const access = v.object({
  tokenEndpoint: optional(v.pipe(v.string(), v.url()))`\
Where access tokens come from, for a client id and secret.`,
  contact: optional(v.string())`Whom to ask: an e-mail address, or an https URL.`,
});

/** What `GET /reporting/fields` answers: the reports, their fields and the limits of a request. */
export const fieldsAnswer = v.object({
  apiVersions: v.array(v.string()),
  timeZone: text`The time zone of all times.`,
  timeForm: v.string(),
  currency: optional(v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)))`\
The currency of all amounts (ISO 4217); absent if the operator has not set it.`,
  access: optional(access)`How to get access; absent where the operator has not said it.`,
  finalAfterHours: optional(v.pipe(integer, v.minValue(1)))`\
How many hours after its end (UTC) the operator promises a day to be final; absent without a promise.`,
  limits: v.object({
    windowDays: required(integer)`The longest window.`,
    longestReportSeconds: required(integer)`\
A report whose query runs longer is given up (503). The query may also wait in a queue for as long before it runs.`,
    queriesAtATime: optional(integer)`\
How many queries of one client may be under way; absent without a limit.`,
    requestsPerSecond: optional(v.number())`\
How many requests a second are accepted for each report, of all clients together; others get 429.`,
    filterTextCharacters: required(integer)`The longest text of a filter.`,
    filterTimeForms: required(v.record(v.string(), v.string()))`\
The form of a time in a filter, for each grain.`,
  }),
  reports: v.array(
    v.object({ name: v.string(), title: v.string(), path: v.string(), fields: v.array(fieldAnswer) }),
  ),
});

/** The catalogue, with the limits, the currency and the access that the operator has set. */
export const describeFields = (config: Config): v.InferOutput<typeof fieldsAnswer> => ({
  apiVersions: API_VERSIONS,
  timeZone: 'UTC',
  timeForm: UTC_TIME_FORM,
  currency: config.currency,
  access: Object.keys(config.access).length > 0 ? config.access : undefined,
  finalAfterHours: config.finalAfterHours,
  limits: {
    windowDays: MAX_WINDOW_DAYS,
    longestReportSeconds: Math.ceil(config.longestQueryMs / 1_000),
    queriesAtATime: config.queriesPerPartner,
    requestsPerSecond: config.requestsPerSecond,
    filterTextCharacters: MAX_TEXT_CHARACTERS,
    filterTimeForms: TIME_FILTER_FORM,
  },
  reports: reports.map((report) => ({
    name: report.name,
    title: report.title,
    path: reportPath(report),
    fields: report.fields.map((field) => describeField(field, report.levels)),
  })),
});

const describeField = (field: Field, levels: Report['levels']): v.InferOutput<typeof fieldAnswer> => {
  const { name, role, type, meaning } = field;
  const isDimension = role === 'dimension';
  const counted = levels?.metric === field ? levels : undefined;
  return {
    ...{ name, role, type, meaning },
    values: valuesOf(field),
    groupable: isDimension,
    filterable: isDimension,
    grain: field.type === 'datetime' ? field.grain : undefined,
    isAmount: isDimension ? undefined : type === 'float',
    countedBy: counted && { whereGroupedBy: counted.finer.name, otherwise: counted.coarser.name },
  };
};
