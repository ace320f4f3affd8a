import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gatewayProblems } from '../../lib/problems/gateway-problems.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { MAX_TEXT_CHARACTERS } from '../../lib/report/filter.ts';
import { API_VERSIONS } from '../../lib/report/parse-request.ts';
import { MAX_WINDOW_DAYS } from '../../lib/report/utc-time.ts';

const contract = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');
const sectionOf = (title: string) =>
  contract.split(/^##+ /m).find((text) => text.startsWith(`${title}\n`)) ?? '';

/** The rows of the table of fields in a section of the contract: name, role, type. */
const promised = (title: string) =>
  [...sectionOf(title).matchAll(/^\| (\w+) \| (dimension|metric) \| (\w+) \|/gm)].map(
    ([, ...cells]) => cells,
  );

describe('docs/contract.md', () => {
  it.each([
    ['Publisher fields', 0, 11],
    ['Advertiser fields', 1, 17],
  ])('promises under "%s" only fields of the catalogue, with their role and type', (title, index, least) => {
    const fields = (reports[index]?.fields ?? []).map(({ name, role, type }) => [name, role, type]);
    expect(promised(title).length).toBeGreaterThanOrEqual(least);
    expect(fields).toEqual(expect.arrayContaining(promised(title)));
  });

  it('names the path of every report', () => {
    for (const { name } of reports)
      expect(sectionOf('The two reports')).toContain(`\`GET /reporting/${name}\``);
  });

  it('states the limits of the service', () => {
    expect(sectionOf('Limits')).toContain(`| window | ${MAX_WINDOW_DAYS} days |`);
    expect(sectionOf('The window')).toContain(`${MAX_WINDOW_DAYS} days at most`);
    expect(sectionOf('Filters')).toContain(`1 to ${MAX_TEXT_CHARACTERS} characters`);
    expect(sectionOf('Versions')).toContain(API_VERSIONS.map((version) => `\`${version}\``).join(', '));
  });

  it('lists the statuses that the gateway and the firewall answer', () => {
    const listed = sectionOf('The answer');
    for (const { status } of Object.values(gatewayProblems)) expect(listed).toContain(String(status));
  });
});
