import { readFile } from 'node:fs/promises';
import type { GatewayResponse, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, it } from 'vitest';
import { responseBodies } from '../../infra/api/firewall.ts';
import { addGatewayAnswers } from '../../infra/api/rest-api.ts';
import * as problems from '../../lib/problems/problem.ts';
import { SCOPE } from '../../local/stack.ts';
import { faultsOfResponse } from './response-validator.ts';

const { causes, knownProblems } = problems;
const guide = await readFile(new URL('../../docs/problems.md', import.meta.url), 'utf8');
const known = knownProblems(SCOPE);
const [ours = ''] = guide.split(/^# What API Gateway answers alone/m);
const [, ...entries] = ours.split(/^## /m);
const REQUEST_ID = '0b0f6c1e-2f0e-4a8e-9f6a-0d9a0a8f6f0b';

/** The answers that the infrastructure makes the gateway give by itself. */
function gatewayAnswers() {
  const answers: { id: string; status: number; template: string }[] = [];
  const api: Pick<RestApi, 'addGatewayResponse'> = {
    addGatewayResponse(id, { statusCode, templates }) {
      answers.push({ id, status: Number(statusCode), template: templates?.['application/json'] ?? '' });
      return {} as GatewayResponse;
    },
  };
  addGatewayAnswers(api as RestApi, false);
  return answers;
}

/** A right answer of the route for waiting callers. */
const noSuchDownload = known.find(({ name }) => name === 'no-such-download')?.document;
const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
const body = Buffer.from(JSON.stringify(noSuchDownload));
const good = { method: 'GET', path: '/reporting/downloads/ticket/1', status: 404, headers, body };
describe('every problem', () => {
  it('with a class in problem.ts is in the OpenAPI document', () => {
    const classes = Object.values(problems).filter(
      // A subclass looks the same to callers. `causes` has no NotFound, so the last line checks it.
      (value) => Object.getPrototypeOf(value) === problems.Problem && value !== problems.NotFound,
    );
    expect(new Set(causes(SCOPE).map((cause) => cause.constructor))).toEqual(new Set(classes));
    expect(known.map(({ name }) => name)).toContain(new problems.NotFound().slug);
  });

  it('has an entry in docs/problems.md with its statuses, and every entry is a problem', () => {
    const statusesIn = (entry: string) =>
      (/^\*\*([\d, ]+)\.\*\*/m.exec(entry)?.[1] ?? '').split(', ').map(Number);
    const nameOf = (entry: string) => entry.slice(0, entry.indexOf('\n'));
    const documented = Object.fromEntries(entries.map((entry) => [nameOf(entry), statusesIn(entry)]));
    const expected: Record<string, number[]> = {};
    for (const { name, status } of known)
      expected[name] = [...new Set([...(expected[name] ?? []), status])].sort();
    expect(documented).toEqual(expected);
  });

  it.each(gatewayAnswers())('that the deployed gateway sends for $id fits the document', async (answer) => {
    const body = Buffer.from(answer.template.replace('$context.requestId', REQUEST_ID));
    // This route documents every status that the gateway answers, also 404.
    expect(await faultsOfResponse({ ...good, status: answer.status, body })).toEqual([]);
  });

  it('that the firewall sends fits the document', async () => {
    const headers = { 'content-type': 'application/json', 'retry-after': '300' };
    const answer = { method: 'GET', path: '/reporting/publisherperformance', status: 429, headers };
    for (const { content } of Object.values(responseBodies))
      expect(await faultsOfResponse({ ...answer, body: Buffer.from(content) })).toEqual([]);
  });
});

describe('the validator', () => {
  const invalid = known.find(({ name }) => name === 'invalid-request')?.document;

  it.each([
    ['an undocumented status', { ...good, status: 418 }],
    ['a missing header', { ...good, headers: { 'content-type': 'application/problem+json' } }],
    ['a problem that belongs to another status', { ...good, body: Buffer.from(JSON.stringify(invalid)) }],
    [
      'another status in its body',
      { ...good, body: Buffer.from(JSON.stringify({ ...noSuchDownload, status: 400 })) },
    ],
    ['a body that is not JSON', { ...good, body: Buffer.from('<html>') }],
    ['a 200 on an undocumented route', { ...good, path: '/reporting/other', status: 200 }],
  ])('reports %s as a fault', async (_, response) => {
    expect(await faultsOfResponse(response)).not.toEqual([]);
  });
});
