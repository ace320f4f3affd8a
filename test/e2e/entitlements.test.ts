import { expect, it } from 'vitest';
import { expectedReport, type Question } from './expected-report.ts';
import { knownEvents } from './known-events.ts';
import { ownService } from './service.ts';

const events = knownEvents(5, 800);
/** With this environment, functions read a caller's companies from the token's claims, not from the register. */
const BY_CLAIMS = {
  ENTITLEMENTS: 'claims',
  COMPANY_CLAIMS: JSON.stringify({
    publisherCompanies: { claim: 'publisher_companies' },
    advertiserCompanies: { claim: 'advertiser_companies' },
  }),
  EVERY_COMPANY_VALUE: '*',
};

const service = await ownService(events, { functionEnv: BY_CLAIMS });

const tokenOf = (claims: object) =>
  service.stack.identityProvider.signToken({ scope: service.stack.scope, ...claims }, { algorithm: 'EdDSA' });

const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const revenue: Question = { ...january, fields: ['PublisherCompanyId', 'Opens', 'Revenue'] };

it('a caller sees only the rows of its token’s companies, while another caller sees other rows at the same URL', async () => {
  const [one, other] = [
    await tokenOf({ publisher_companies: 1000 }),
    await tokenOf({ publisher_companies: '1001' }),
  ];
  const answers = await Promise.all(
    [one, other, one].map((token) => service.answerTo(token, 'publisherperformance', revenue)),
  );
  const expectedFor = (company: bigint) => {
    const visible = events.publisher_events.filter((row) => row['publisher_company_id'] === company);
    return { status: 200, body: expectedReport('publisherperformance', visible, revenue) };
  };
  expect(answers).toEqual([expectedFor(1000n), expectedFor(1001n), expectedFor(1000n)]);
  expect(answers[0]).not.toEqual(answers[1]);
});
