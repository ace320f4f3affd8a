import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { RESULTS_PREFIX } from '../names.ts';

/** A key of the results bucket. It begins with one of the bucket's prefixes. */
export type ResultsKey = `${(typeof RESULTS_PREFIX)[keyof typeof RESULTS_PREFIX]}${string}`;

const PREFIXES: readonly string[] = Object.values(RESULTS_PREFIX);

/** The schema for a key in a stored document. */
export const resultsKey = v.custom<ResultsKey>(
  (text) => typeof text === 'string' && PREFIXES.some((prefix) => text.startsWith(prefix)),
);

/** Key of a job's record. */
export const jobRecordKey = ({ id }: { readonly id: string }): ResultsKey =>
  `${RESULTS_PREFIX.jobs}${id}.json`;

/** Key of the document that lists a client's slots. */
export const slotsKey = (client: string): ResultsKey =>
  `${RESULTS_PREFIX.slots}${createHash('sha256').update(client).digest('hex')}.json`;

/** Key of the ticket that a waiting URL names. */
export const ticketKey = (ticket: string): ResultsKey => `${RESULTS_PREFIX.waiting}${ticket}.json`;

/** Key to which Athena writes a result, unless Athena reuses an earlier result. */
export const resultKey = (executionId: string): ResultsKey => `${RESULTS_PREFIX.athena}${executionId}.csv`;

/** Key of a report's file, as callers download it. */
export const reportKey = (executionId: string, fileName: string): ResultsKey =>
  `${RESULTS_PREFIX.reports}${executionId}/${fileName}`;

/** Key of the gzipped file that belongs to a plain file. */
export const gzippedKey = (key: ResultsKey): ResultsKey => `${key}.gz`;

/** Key of the request to publish a large result. Writing this object starts the publishing function. */
export const publicationKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.publications}${executionId}.json`;

/** The id of the execution whose result a request to publish is about. */
export const publishedExecution = (publication: string): string =>
  publication.slice(RESULTS_PREFIX.publications.length).replace(/\.json$/, '');

/** Key of the note about a publication that was given up. */
export const abandonedKey = (executionId: string): ResultsKey =>
  `${RESULTS_PREFIX.abandoned}${executionId}.json`;
