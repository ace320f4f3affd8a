import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { DataState } from '../lake/data-version.ts';
import { RESULTS_PREFIX } from '../names.ts';

/**
 * A key of the results bucket. It must begin with one of the bucket's prefixes, so the compiler refuses any other text.
 */
export type ResultsKey = `${(typeof RESULTS_PREFIX)[keyof typeof RESULTS_PREFIX]}${string}`;

const PREFIXES: readonly string[] = Object.values(RESULTS_PREFIX);

/** A key as a stored document holds it. */
export const resultsKey = v.custom<ResultsKey>(
  (text) => typeof text === 'string' && PREFIXES.some((prefix) => text.startsWith(prefix)),
);

/** Anything that has a job's id. */
interface Named {
  readonly id: string;
}

/** A job's cached report, or the record that it exceeded the scan limit. */
export const cachedReportKey = ({ id }: Named): ResultsKey => `${RESULTS_PREFIX.cached}${id}.json`;

/**
 * The record of a job's attempts for one listing fingerprint. A request that saw another fingerprint must not get their
 * results.
 */
export const jobRecordKey = ({ id }: Named, { fingerprint }: Pick<DataState, 'fingerprint'>): ResultsKey =>
  `${RESULTS_PREFIX.jobs}${id}/${fingerprint}.json`;

/** A client's slots. */
export const slotsKey = (client: string): ResultsKey =>
  `${RESULTS_PREFIX.slots}${createHash('sha256').update(client).digest('hex')}.json`;

/** The ticket that a waiting URL names. */
export const ticketKey = (ticket: string): ResultsKey => `${RESULTS_PREFIX.waiting}${ticket}.json`;

/** Where Athena writes a result, unless it reuses an earlier one. */
export const resultKey = (executionId: string): ResultsKey => `${RESULTS_PREFIX.athena}${executionId}.csv`;

/** A report as callers download it. */
export const reportKey = (executionId: string, fileName: string): ResultsKey =>
  `${RESULTS_PREFIX.reports}${executionId}/${fileName}`;

/** The gzipped report lies beside the plain one. */
export const gzippedKey = (key: ResultsKey): ResultsKey => `${key}.gz`;

/** The request to publish a large result: its arrival starts the publishing function. */
export const publicationKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.publications}${executionId}.json`;

/** The execution's id, from the key of its publication. */
export const publishedExecution = (publication: string): string =>
  publication.slice(RESULTS_PREFIX.publications.length).replace(/\.json$/, '');

/** Notes that a publication has been given up. */
export const abandonedKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.abandoned}${executionId}.json`;
