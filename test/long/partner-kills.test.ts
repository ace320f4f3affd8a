import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RegisterBucket, registerBucket } from '../../tools/partner/register-bucket.ts';
import { type AwsStandIn, startAwsStandIn } from '../tools/aws-stand-in.ts';
import { clientIn, type Ended, partnerHere, runPartner, secretIn } from '../tools/run-partner.ts';

let aws: AwsStandIn;
let register: RegisterBucket;
beforeAll(async () => {
  aws = await startAwsStandIn({ dev: 'cognito' });
});
afterAll(() => aws.close());
beforeEach(() => {
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  register = registerBucket('partners');
});

const addArgs = (name: string) =>
  `add dev ${name} --publisher-companies 1000 --contact reports@partner.example`.split(' ');

/**
 * Runs the command and kills it before or after its nth call takes effect. The look-up of the stage does not count as a
 * call.
 */
async function killedAt(args: readonly string[], nth: number, when: 'before' | 'after'): Promise<Ended> {
  let child: ChildProcess | undefined;
  let seen = 0;
  aws.onCall = async (call, at) => {
    if (call.startsWith('CloudFormation')) return;
    if (at === 'before') seen += 1;
    if (seen !== nth || at !== when) return;
    const isGone = new Promise((resolve) => child?.once('exit', resolve));
    child?.kill('SIGKILL');
    await isGone;
    // The call must have no effect if the command is killed before it.
    if (when === 'before') throw new Error('killed');
  };
  const ended = await runPartner(aws.env, args, (started) => (child = started));
  aws.onCall = async () => {};
  expect(ended.code).toBeNull();
  return ended;
}

/** How many calls a command makes, without the look-up of the stage. */
async function callsOf(args: readonly string[]): Promise<number> {
  aws.calls.splice(0);
  expect(await partnerHere(args)).toMatchObject({ code: 0 });
  return aws.calls.filter((call) => !call.startsWith('CloudFormation')).length;
}

/**
 * Kills the command before and after each of its calls, each time with a new partner, and then repeats the command.
 * Resolves to the number of kills.
 */
async function killEverywhere(
  command: string,
  calls: number,
  argsOf: (name: string) => readonly string[],
  prepare: (name: string) => Promise<Ended | undefined>,
  judge: (facts: {
    name: string;
    prepared: Ended | undefined;
    killed: Ended;
    repeated: Ended;
  }) => Promise<void>,
) {
  let kills = 0;
  for (let nth = 1; nth <= calls; nth++)
    for (const when of ['before', 'after'] as const) {
      const name = `${command}-${nth}-${when}`;
      const prepared = await prepare(name);
      const killed = await killedAt(argsOf(name), nth, when);
      const repeated = await runPartner(aws.env, argsOf(name));
      await judge({ name, prepared, killed, repeated });
      kills += 1;
    }
  return kills;
}

const secretsOf = (client: string | undefined) => [
  ...(aws.clients.get(client ?? '')?.secrets.values() ?? []),
];

describe('npm run partner, killed and repeated', () => {
  it('add leaves one client, one record, and a secret that was shown', async () => {
    const calls = await callsOf(addArgs('counted-add'));
    const kills = await killEverywhere(
      'add',
      calls,
      addArgs,
      async () => undefined,
      async ({ name, killed, repeated }) => {
        // If the repeated command fails, the killed command had already finished its last step.
        const shown = repeated.code === 0 ? repeated : killed;
        if (repeated.code !== 0) expect(repeated.output).toMatch(/^The name ".*" is taken/);
        const client = clientIn(shown);
        expect(secretsOf(client)).toEqual([secretIn(shown)]);
        const made = [...aws.clients.values()].filter(({ ClientName }) => ClientName.startsWith(`${name}.`));
        expect(made.map(({ ClientId }) => ClientId)).toEqual([client]);
        expect((await register.readPartner(client ?? ''))?.value).toMatchObject({ name, active: true });
        expect((await register.readName(name))?.value).toMatchObject({ state: 'there', client });
      },
    );
    expect(kills).toBeGreaterThanOrEqual(10);
  });

  it('rotate leaves the old secret and a new one that was shown; rotate --finish leaves only the new one', async () => {
    await partnerHere(addArgs('counted-rotate'));
    const calls = await callsOf(['rotate', 'dev', 'counted-rotate']);
    const finishCalls = await callsOf(['rotate', 'dev', 'counted-rotate', '--finish']);
    const rotate = (name: string) => ['rotate', 'dev', name];
    const kills = await killEverywhere(
      'rotate',
      calls,
      rotate,
      (name) => partnerHere(addArgs(name)),
      async ({ prepared, killed, repeated }) => {
        const shown = repeated.code === 0 ? repeated : killed;
        if (repeated.code !== 0) expect(repeated.output).toMatch(/has two good secrets already/);
        expect(secretsOf(prepared && clientIn(prepared))).toEqual([
          prepared && secretIn(prepared),
          secretIn(shown),
        ]);
      },
    );
    expect(kills).toBeGreaterThanOrEqual(10);
    await killEverywhere(
      'finish',
      finishCalls,
      (name) => [...rotate(name), '--finish'],
      async (name) => {
        await partnerHere(addArgs(name));
        return partnerHere(rotate(name));
      },
      async ({ prepared, repeated }) => {
        expect(repeated.code).toBe(0);
        expect(secretsOf(prepared && clientIn(prepared))).toEqual([prepared && secretIn(prepared)]);
      },
    );
  });

  it('remove leaves no client and no rights', async () => {
    await partnerHere(addArgs('counted-remove'));
    const calls = await callsOf(['remove', 'dev', 'counted-remove', '--yes']);
    const kills = await killEverywhere(
      'remove',
      calls,
      (name) => ['remove', 'dev', name, '--yes'],
      (name) => partnerHere(addArgs(name)),
      async ({ name, prepared, repeated }) => {
        const client = (prepared && clientIn(prepared)) ?? '';
        expect(repeated.code).toBe(0);
        expect(aws.clients.has(client)).toBe(false);
        expect((await register.readPartner(client))?.value).toMatchObject({
          active: false,
          publisherCompanies: [],
        });
        expect((await register.readName(name))?.value.state).toBe('removed');
      },
    );
    expect(kills).toBeGreaterThanOrEqual(10);
  });

  it('remove deletes the client that a killed add has made', async () => {
    const before = aws.clients.size;
    const calls = await callsOf(addArgs('counted-half'));
    await partnerHere(['remove', 'dev', 'counted-half', '--yes']);
    for (let nth = 3; nth <= calls; nth++) {
      const name = `half-${nth}`;
      await killedAt(addArgs(name), nth, 'after');
      expect(await partnerHere(['remove', 'dev', name, '--yes'])).toMatchObject({ code: 0 });
      expect(aws.clients.size).toBe(before);
    }
  });
});
