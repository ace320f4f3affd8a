/** Tests what an operator sees of a deployed stage: smoke, doctor, and the page below the stage's path. */
import { describe, expect, it } from 'vitest';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService } from '../e2e/service.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const { stage, ...account } = currentLane() as Lane;
const { apiAddress, doctor, outputs, smoke } = operator(account);

await ownService(knownEvents(41, 200));

describe('npm run smoke', () => {
  it('proves that the stage delivers, as the client of the probe', async () => {
    const output = await smoke(stage);
    expect(output).toMatch(/^a report of yesterday, by a new query +delivered, rows: \d+$/m);
    expect(output).not.toContain('FAILS');
  });
});

describe('npm run doctor', () => {
  it('finds nothing wrong with the stage itself', async () => {
    const output = await doctor(stage);
    expect(output).not.toMatch(/no query starts|lacks|sees no publisher|answered 401|lead elsewhere/);
  });
});

it('the stage has a page whose files all load, and which may connect to the results bucket', async () => {
  const address = await apiAddress(stage);
  const get = (path: string) => fetch(address + path);
  const page = await get('/');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const { ResultsBucket = '' } = await outputs(stage, 'data');
  expect(page.headers.get('content-security-policy')).toMatch(
    RegExp(`connect-src 'self' https://(${ResultsBucket}\\.)?[^ ;]+;`),
  );
  const loaded = [...(await page.text()).matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)];
  expect(loaded.length).toBeGreaterThanOrEqual(3);
  for (const [, path = ''] of loaded) {
    expect(path).toMatch(RegExp(`^/${stage}/page/`));
    const file = await get(path.slice(`/${stage}`.length));
    expect([path, file.status]).toEqual([path, 200]);
    expect((await file.text()).length).toBeGreaterThan(100);
  }
  for (const path of ['/docs', '/docs/problems', '/llms.txt']) {
    const answer = await get(path);
    const isOfStage = (await answer.text()).includes(`/${stage}/docs`);
    expect([path, answer.status, isOfStage]).toEqual([path, 200, true]);
  }
});
