import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SmokeParts, smokeSteps } from '../../tools/smoke/smoke-command.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { type Service, startService } from '../e2e/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService(knownEvents(23, 100));
});
afterAll(() => service.close());

/** What became of each step: the text that the operator reads, or the fault. */
async function outcomes(changes: Partial<SmokeParts> = {}): Promise<Readonly<Record<string, string>>> {
  const { clientId, clientSecret, tokenUrl, scope } = service.stack;
  const steps = smokeSteps({
    scope: scope as SmokeParts['scope'],
    serviceUrl: service.gatewayUrl,
    tokenUrl,
    clientSecretId: '',
    readSecret: async () => JSON.stringify({ clientId, clientSecret }),
    ...changes,
  });
  const seen: Record<string, string> = {};
  for (const [what, act] of steps) seen[what] = await act().catch(({ message }) => `FAILS ${message}`);
  return seen;
}

describe('the steps of npm run smoke', () => {
  it('succeed on a service that delivers, and its report is made by a new query each time', async () => {
    expect(Object.values(await outcomes()).join(', ')).toBe(
      'given, delivered, rows: 0, 200, 404, 200, 401, 303, 303, 303, 303',
    );
    const started = () =>
      service.stack.athenaCalls().filter(({ operation }) => operation === 'StartQueryExecution').length;
    const before = started();
    await outcomes();
    expect(started()).toBe(before + 1);
  });

  it('say each by itself what is wrong, and quote no secret', async () => {
    const readSecret = async () => JSON.stringify({ clientId: 'nobody', clientSecret: 'hush' });
    const seen = await outcomes({ readSecret });
    expect(seen).toMatchObject({
      'a token': 'FAILS The identity provider answers 401',
      'the days of the report': 'FAILS The identity provider answers 401',
      'the waiting room': '404',
      'a report without a token': '401',
    });
    expect(JSON.stringify(seen)).not.toContain('hush');
    service.stack.faults.set([{ on: 'query', fail: 'final' }]);
    expect(await outcomes()).toMatchObject({
      'a report of yesterday, by a new query': "FAILS The report's request ends with 500",
      'the days of the report': '200',
    });
    service.stack.faults.set([]);
  });
});
