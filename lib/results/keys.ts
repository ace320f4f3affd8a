import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { DataState } from '../lake/data-version.ts';
import { RESULTS_PREFIX } from '../names.ts';

/** A key of the results bucket. Each begins with one of its prefixes, so that no other text passes for one. */
export type ResultsKey = `${(typeof RESULTS_PREFIX)[keyof typeof RESULTS_PREFIX]}${string}`;

const PREFIXES: readonly string[] = Object.values(RESULTS_PREFIX);

/** A key as a stored document holds it. */
export const resultsKey = v.custom<ResultsKey>(
  (text) => typeof text === 'string' && PREFIXES.some((prefix) => text.startsWith(prefix)),
);

/** What belongs to a job is found by its id. */
interface Named {
  readonly id: string;
}

/** The report that answers a job, or that it reads more than the scan limit allows. */
export const cachedReportKey = ({ id }: Named): ResultsKey => `${RESULTS_PREFIX.cached}${id}.json`;

/**
 * The record of a job's attempts. They are kept apart by the listing fingerprint that they were started for: a request
 * that saw the lake otherwise must not be given what they read.
 */
export const jobRecordKey = ({ id }: Named, { fingerprint }: Pick<DataState, 'fingerprint'>): ResultsKey =>
  `${RESULTS_PREFIX.jobs}${id}/${fingerprint}.json`;

/** The queries that a client has under way. */
export const slotsKey = (client: string): ResultsKey =>
  `${RESULTS_PREFIX.slots}${createHash('sha256').update(client).digest('hex')}.json`;

/** What a waiting URL stands for. */
export const ticketKey = (ticket: string): ResultsKey => `${RESULTS_PREFIX.waiting}${ticket}.json`;

/** Where Athena writes a result that it doesn't take from an earlier query. */
export const resultKey = (executionId: string): ResultsKey => `${RESULTS_PREFIX.athena}${executionId}.csv`;

/** A report as callers download it. */
export const reportKey = (executionId: string, fileName: string): ResultsKey =>
  `${RESULTS_PREFIX.reports}${executionId}/${fileName}`;

/** The gzipped report lies beside the plain one. */
export const gzippedKey = (key: ResultsKey): ResultsKey => `${key}.gz`;

/** The request to publish a large result: its arrival starts the publishing function. */
export const publicationKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.publications}${executionId}.json`;

/** The execution whose result a publication publishes. */
export const publishedExecution = (publication: string): string =>
  publication.slice(RESULTS_PREFIX.publications.length).replace(/\.json$/, '');

/** Notes that a publication has been given up. */
export const abandonedKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.abandoned}${executionId}.json`;
