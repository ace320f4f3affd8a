import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { registerBucket } from '../../tools/partner/register-bucket.ts';
import { PARTNERS_BUCKET, startAwsStandIn } from './aws-stand-in.ts';
import { clientIn, type Ended, partnerHere, runPartner, secretIn } from './run-partner.ts';

const aws = await startAwsStandIn({ dev: 'cognito', own: 'existing' });
afterAll(() => aws.close());
for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
beforeEach(() => void aws.calls.splice(0));

const partner = (line: string): Promise<Ended> => partnerHere(line.split(' '));
const CONTACT = '--contact reports@partner.example';

/** The calls that wrote to AWS. */
const writes = () => aws.calls.filter((call) => /PUT|DELETE|Create|Add|Delete/.test(call));

describe('npm run partner, with Cognito', () => {
  it('adds a partner with a client that gets tokens for the service, and shows the client’s secret once', async () => {
    const added = await partner(`add dev first --publisher-companies 1000,007 ${CONTACT}`);
    expect(added.code).toBe(0);
    const client = aws.clients.get(clientIn(added) ?? '');
    expect(client).toMatchObject({ AllowedOAuthScopes: ['api://performance-reports/.default'] });
    expect([...(client?.secrets.values() ?? [])]).toEqual([secretIn(added)]);
    expect(added.output).toContain('https://login.example/token');
    const curl = /^ {2}curl -L -g .* '(\S+)'$/m.exec(added.output)?.[1] ?? '';
    expect(curl).toMatch(/^https:\/\/api.example\/dev\/reporting\/publisherperformance\?/);
    expect(added.output).toContain(`-u '${clientIn(added)}:${secretIn(added)}' -d grant_type`);

    const shown = await partner('show dev first');
    expect(shown.output).toMatch(/publisher companies +1000,7\n +advertiser companies +none\n/);
    expect(shown.output).not.toContain(secretIn(added));
  });

  it('lists partners, whose names may differ only by a hyphen, and a client made by hand, which has no rights', async () => {
    const plain = await partner(`add dev twoparts --publisher-companies 1 ${CONTACT}`);
    const hyphened = await partner(`add dev two-parts --advertiser-companies every-company ${CONTACT}`);
    expect(clientIn(plain)).not.toBe(clientIn(hyphened));
    const byHand = { ClientId: 'by-hand', ClientName: 'first', AllowedOAuthScopes: [], secrets: new Map() };
    aws.clients.set('by-hand', byHand);
    const { output } = await partner('list dev');
    aws.clients.delete('by-hand');
    const lines = [
      '^\\(client by-hand, "first" in Cognito, is no partner',
      `^twoparts  active  publisher companies 1  advertiser companies none  .*${clientIn(plain)}`,
      `^two-parts  active  publisher companies none  advertiser companies every-company  .*${clientIn(hyphened)}`,
    ];
    for (const line of lines) expect(output).toMatch(RegExp(line, 'm'));
  });

  it('changes a partner’s companies, contact and active state, and keeps the rest', async () => {
    const ids = '--publisher-companies 1 --advertiser-companies 2';
    const client = clientIn(await partner(`add dev changing ${ids} ${CONTACT}`)) ?? '';
    const register = registerBucket(PARTNERS_BUCKET);
    const annotations = { note: 'of a later release' };
    const was = await register.readPartner(client);
    if (was?.value) await register.writePartner(was, { ...was.value, annotations });
    const { code, output } = await partner('set dev changing --publisher-companies none --active no');
    expect(code).toBe(0);
    expect(output).toMatch(/^Partner changing, inactive:\n/);
    expect(output).toMatch(
      /publisher companies +none\n +advertiser companies +2\n[\s\S]* contact +reports@partner.example/,
    );
    expect((await register.readPartner(client))?.value).toMatchObject({
      publisherCompanies: [],
      annotations,
    });
  });

  it('rotates a secret: both secrets are valid until --finish, and --again makes another new secret', async () => {
    const added = await partner(`add dev rotating --publisher-companies 1 ${CONTACT}`);
    const secrets = () => [...(aws.clients.get(clientIn(added) ?? '')?.secrets.values() ?? [])];
    const rotated = await partner('rotate dev rotating');
    expect(secrets()).toEqual([secretIn(added), secretIn(rotated)]);
    const twoAreGood = expect.stringMatching(/^"rotating" has two good secrets .*--again\n$/);
    expect(await partner('rotate dev rotating')).toEqual({ code: 1, output: twoAreGood });
    const again = await partner('rotate dev rotating --again');
    expect(secrets()).toEqual([secretIn(added), secretIn(again)]);
    await partner('rotate dev rotating --finish');
    expect(secrets()).toEqual([secretIn(again)]);
    expect(await partner('rotate dev rotating --finish')).toMatchObject({ code: 0 });
    expect(secrets()).toEqual([secretIn(again)]);
  });

  it('removes a partner with its client, can be repeated, and frees the name', async () => {
    const added = await partner(`add dev leaving --publisher-companies 1 ${CONTACT}`);
    expect((await partner('remove dev leaving --yes')).code).toBe(0);
    expect(aws.clients.has(clientIn(added) ?? '')).toBe(false);
    const output = 'Partner leaving of stage dev is removed.\n';
    expect(await partner('remove dev leaving')).toEqual({ code: 0, output });
    expect((await partner('list dev')).output).not.toContain('leaving');
    const again = await partner(`add dev leaving --publisher-companies 2 ${CONTACT}`);
    expect(clientIn(again)).not.toBe(clientIn(added));
  });

  it('adopts a client that an older version made, and keeps its secret', async () => {
    const secrets = new Map([['old--1', 'old secret']]);
    aws.clients.set('old', { ClientId: 'old', ClientName: 'first-partner', AllowedOAuthScopes: [], secrets });
    const added = await partner(`add dev first-partner --client old --publisher-companies 1 ${CONTACT}`);
    expect(added.code).toBe(0);
    expect(clientIn(added)).toBe('old');
    expect(secretIn(added)).toBeUndefined();
    expect([...secrets.values()]).toEqual(['old secret']);
  });

  it('adds a partner only once if two operators add it at the same time', async () => {
    const before = aws.clients.size;
    const line = `add dev twice --publisher-companies 1 ${CONTACT}`;
    const ended = await Promise.all([partner(line), partner(line)]);
    if (ended.every(({ code }) => code !== 0)) ended.push(await partner(line));
    const { output } = await partner('show dev twice');
    expect(aws.clients.size).toBe(before + 1);
    expect(aws.clients.has(clientIn({ code: 0, output }) ?? '')).toBe(true);
    for (const { code, output } of ended)
      if (code !== 0) expect(output.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('npm run partner, with an existing identity provider', () => {
  it('uses the given client id and does not call Cognito', async () => {
    const added = await partner(`add own outside --client 6f1c --publisher-companies 1 ${CONTACT}`);
    expect(added.code).toBe(0);
    expect(clientIn(added)).toBe('6f1c');
    expect((await partner('remove own outside --yes')).output).toContain('take it away there');
    expect(aws.calls.filter((call) => call.startsWith('Cognito'))).toEqual([]);
  });
});

describe('the command line', () => {
  it('prints what it did and exits with 0, or prints one line about a fault and exits with 1', async () => {
    const added = await runPartner(aws.env, `add dev spawned --publisher-companies 1 ${CONTACT}`.split(' '));
    expect(added).toEqual({ code: 0, output: expect.stringMatching(/^Partner spawned of stage dev:\n/) });
    expect(await runPartner(aws.env, ['list', 'nowhere'])).toEqual({
      code: 1,
      output: expect.stringMatching(/^There is no stage "nowhere" .*\n$/),
    });
  });

  it('finishes its work without a word if nobody reads its output any more', async () => {
    const args = `add dev unread --publisher-companies 1 ${CONTACT}`.split(' ');
    const unread = await runPartner(aws.env, args, (child) => child.stdout?.destroy());
    expect(unread).toEqual({ code: 0, output: '' });
    expect((await partner('list dev')).output).toMatch(/^unread {2}active/m);
  });
});

describe('bad input', async () => {
  await partner(`add dev taken --publisher-companies 1 ${CONTACT}`);
  await partner(`add own theirs --client theirs --publisher-companies 1 ${CONTACT}`);
  const ONE = `--publisher-companies 1 ${CONTACT}`;

  it('is answered so if it names more companies than a query can', async () => {
    const ids = Array.from({ length: 30_000 }, (_, id) => id + 1_000_000).join(',');
    const { code, output } = await partner(`add dev x --publisher-companies ${ids} ${CONTACT}`);
    expect(output).toMatch(
      /^--publisher-companies: 30,000 companies are more than a query can name: .* Give/,
    );
    expect([code, writes()]).toEqual([1, []]);
  });

  it.each<[string, RegExp]>([
    ['frobnicate dev x', /^There is no command "frobnicate"/],
    ['list', /^Name a stage/],
    ['list dev more', /^"more" is one word too many/],
    ['list nowhere', /^There is no stage "nowhere" in this account and us-east-1/],
    ['list Dev_1', /^"Dev_1" is no stage/],
    ['list local', /PARTNERS=<file>/],
    ['show dev', /^Name a partner/],
    ['show dev nobody', /^Stage dev has no partner "nobody"/],
    ['show dev ../x', /^"..\/x" is no name for a partner/],
    [`add dev -x ${ONE}`, /^Unknown option '-x'/],
    [`add dev a--b ${ONE}`, /^"a--b" is no name/],
    [`add dev x ${CONTACT}`, /^Say whose rows it sees/],
    ['add dev x --publisher-companies 1', /^Say whom to write to/],
    [`add dev x --publisher-companies 1,acme ${CONTACT}`, /^--publisher-companies: "acme" is no company id/],
    [`add dev x --publisher-companies * ${CONTACT}`, /^--publisher-companies: "\*" is no company id/],
    [`add dev x --publisher-companies 9223372036854775808 ${CONTACT}`, /is no company id/],
    [`add dev x --publisher-companies every-company,1 ${CONTACT}`, /: "every-company" is no/],
    [`add dev x --publisher-companies 2 ${ONE}`, /^--publisher-companies is given twice/],
    ...['\u0085', '\u009b', '\u202e', '\u2066', '\u200b', '\u2028', '\ufeff', '\ud800'].map(
      (hidden): [string, RegExp] => [
        `add dev x --publisher-companies 1 --contact a${hidden}@partner.example`,
        /^--contact takes one line/,
      ],
    ),
    [`add dev x --client none ${ONE}`, /^The user pool of stage dev has no client none/],
    [`add dev taken ${ONE}`, /^The name "taken" is taken/],
    [`add own x ${ONE}`, /^Stage own has an identity provider of its own/],
    [`add own x --client theirs ${ONE}`, /^The client theirs is partner "theirs" already/],
    ['rotate own theirs', /^Stage own has an identity provider of its own/],
    ['rotate dev taken --finish --again', /^Take --finish or --again/],
    ['set dev taken', /^Say what to change/],
    ['set dev taken --active maybe', /^--active is "maybe"/],
    ['remove dev nobody', /^Stage dev has no partner "nobody"/],
    ['remove dev taken', /^Partner taken of stage dev loses its rows .* --yes$/m],
  ])('is answered with one line and changes nothing: %s', async (line, expected) => {
    const { code, output } = await partner(line);
    expect(output).toMatch(expected);
    expect(output.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
    expect(writes()).toEqual([]);
  });
});
