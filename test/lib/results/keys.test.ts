import { describe, expect, it } from 'vitest';
import {
  abandonedKey,
  gzippedKey,
  jobRecordKey,
  publicationKey,
  publishedExecution,
  reportKey,
  resultKey,
  slotsKey,
  ticketKey,
} from '../../../lib/results/keys.ts';

const job = { id: 'job-1' };

describe('the keys of stored objects', () => {
  it.each([
    ['a job’s record', jobRecordKey(job), 'jobs/job-1.json'],
    ['a ticket', ticketKey('ticket-1'), 'waiting/ticket-1.json'],
    ["Athena's result", resultKey('q1'), 'athena/q1.csv'],
    ["the report's plain file", reportKey('q1', 'a.csv'), 'reports/q1/a.csv'],
    ["the report's gzipped file", gzippedKey('reports/q1/a.csv'), 'reports/q1/a.csv.gz'],
    ['the request to publish', publicationKey('q1'), 'publications/q1.json'],
    ['the note that a publication was given up', abandonedKey('q1'), 'abandoned/q1.json'],
  ])('have a fixed form: %s', (_, key, expected) => {
    expect(key).toBe(expected);
  });

  it('for slots hold a hash of the client’s id, different for each client', () => {
    expect(slotsKey('../a')).toMatch(/^slots\/[0-9a-f]{64}\.json$/);
    expect(slotsKey('../a')).not.toBe(slotsKey('a'));
  });

  it('for publications contain the execution’s id', () => {
    expect(publishedExecution(publicationKey('12-ab.json.x'))).toBe('12-ab.json.x');
  });
});
