import { describe, expect, it } from 'vitest';
import { knownProblems } from '../../../lib/problems/problem.ts';

describe('knownProblems', () => {
  it('has an example of each problem of the service, the gateway and the firewall, in the order of the statuses', () => {
    expect(knownProblems('api://reports/.default').map(({ status, name }) => `${status} ${name}`)).toEqual([
      '400 invalid-request',
      '400 report-too-large',
      '401 unauthenticated',
      '401 not-authorized',
      '403 forbidden',
      '404 no-records',
      '404 no-such-download',
      '404 not-found',
      '429 too-many-requests',
      '500 too-many-companies',
      '500 internal-error',
      '502 internal-error',
      '503 unavailable',
      '504 internal-error',
    ]);
  });
});
