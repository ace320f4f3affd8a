import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { RESULTS_PREFIX } from '../names.ts';

/** A key of the results bucket. It begins with one of the bucket's prefixes. */
export type ResultsKey = `${(typeof RESULTS_PREFIX)[keyof typeof RESULTS_PREFIX]}${string}`;

const PREFIXES: readonly string[] = Object.values(RESULTS_PREFIX);

export const resultsKey = v.custom<ResultsKey>(
  (text) => typeof text === 'string' && PREFIXES.some((prefix) => text.startsWith(prefix)),
);

export const jobRecordKey = ({ id }: { readonly id: string }): ResultsKey =>
  `${RESULTS_PREFIX.jobs}${id}.json`;

export const slotsKey = (client: string): ResultsKey =>
  `${RESULTS_PREFIX.slots}${createHash('sha256').update(client).digest('hex')}.json`;

export const ticketKey = (ticket: string): ResultsKey => `${RESULTS_PREFIX.waiting}${ticket}.json`;

/** Where Athena writes a result, unless it reuses an earlier one. */
export const resultKey = (executionId: string): ResultsKey => `${RESULTS_PREFIX.athena}${executionId}.csv`;

export const reportKey = (executionId: string, fileName: string): ResultsKey =>
  `${RESULTS_PREFIX.reports}${executionId}/${fileName}`;

export const gzippedKey = (key: ResultsKey): ResultsKey => `${key}.gz`;

/** Writing this object starts the publishing function. */
export const publicationKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.publications}${executionId}.json`;

/** The execution of a request to publish, from its key. */
export const publishedExecution = (publication: string): string =>
  publication.slice(RESULTS_PREFIX.publications.length).replace(/\.json$/, '');

export const abandonedKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.abandoned}${executionId}.json`;
