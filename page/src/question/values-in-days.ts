import { metricsOf, reportOf } from '../../../lib/report/catalogue.ts';
import { askReport, NoReport } from '../reader/ask-report.ts';
import { BrokenCsv, csvReader } from '../reader/read-csv.ts';
import { serviceAddress } from '../service-facts.ts';
import { type Caller, firstChoice } from './choice.ts';
import { fetchDays } from './day-states.ts';
import { type FoundValues, valueRanking } from './found-values.ts';
import type { Days } from './presets.ts';
import { parametersOf, urlOf } from './request.ts';
import { type ValuesQuestion, valuesCache } from './values-cache.ts';

const fromCache = valuesCache(versionsOf, askValues);

/**
 * The values of a dimension in all rows of these days that the caller may see. Ignores the filters. Asks for one report
 * and caches the answer. Rejects with NoReport or BrokenCsv.
 */
export const valuesInDays = (
  caller: Caller,
  report: string,
  dimension: string,
  days: Days,
): Promise<FoundValues> => fromCache({ caller, report, dimension, days });

async function versionsOf({ caller, report, days }: ValuesQuestion): Promise<string | undefined> {
  const told = await fetchDays(caller, report, days.first, days.last);
  return told?.map(({ day, version }) => `${day}=${version}`).join();
}

async function askValues({ caller, report: name, dimension, days }: ValuesQuestion): Promise<FoundValues> {
  const report = reportOf(name);
  const metric = report && metricsOf(report)[0]?.name;
  if (!report || metric === undefined) throw new TypeError(`no report ${name} with a metric`);
  const choice = { ...firstChoice(name), fields: [dimension, metric] };
  const token = await caller.token().catch(() => {
    throw new NoReport({ title: 'No token', detail: 'No token could be had for the sample partner.' });
  });
  const response = await askReport(urlOf(serviceAddress, report, parametersOf(choice, days)), token);
  const ranking = valueRanking(metric);
  let isHeader = true;
  const reader = csvReader(([value, digits]) => {
    if (value === undefined || digits === undefined) throw new BrokenCsv('A row has not two values.');
    if (!isHeader) return ranking.add(value, digits);
    if (value !== dimension || digits !== metric) throw new BrokenCsv('It is another report.');
    isHeader = false;
  });
  const decoder = new TextDecoder();
  for (const chunks = response.body?.getReader(); chunks; ) {
    const { done, value } = await chunks.read();
    if (done) break;
    reader.read(decoder.decode(value, { stream: true }));
  }
  reader.end();
  if (isHeader) throw new BrokenCsv('It is empty.');
  return ranking.found();
}

/** A sentence that says why no values came. */
export const noValuesWords = (error: unknown): string =>
  error instanceof NoReport ? error.problem.detail : 'The values broke off on their way. Ask for them again.';
