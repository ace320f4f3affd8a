import type { ChildProcess } from 'node:child_process';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { registerBucket } from '../../tools/partner/register-bucket.ts';
import { startAwsStandIn } from '../tools/aws-stand-in.ts';
import { clientIn, partnerHere, runPartner, secretIn } from '../tools/run-partner.ts';

const aws = await startAwsStandIn({ dev: 'cognito' });
for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
afterAll(() => aws.close());

const add = (name: string) =>
  `add dev ${name} --publisher-companies 1000 --contact reports@partner.example`.split(' ');
const remove = (name: string) => ['remove', 'dev', name, '--yes'];
const rotate = (name: string) => ['rotate', 'dev', name];
const finish = (name: string) => [...rotate(name), '--finish'];

/** Runs a command, and kills it before or after its nth call takes effect, if it makes so many. */
async function wasKilled(args: readonly string[], nth: number, when: 'before' | 'after'): Promise<boolean> {
  let child: ChildProcess | undefined;
  let seen = 0;
  aws.onCall = async (call, at) => {
    // The look-up of the stage does not count.
    if (call.startsWith('CloudFormation')) return;
    if (at === 'before') seen += 1;
    if (seen !== nth || at !== when) return;
    const isGone = new Promise((resolve) => child?.once('exit', resolve));
    child?.kill('SIGKILL');
    await isGone;
    // The call must have no effect if the command is killed before it.
    if (when === 'before') throw new Error('killed');
  };
  const { code } = await runPartner(aws.env, args, (started) => (child = started));
  aws.onCall = async () => {};
  return code === null;
}

const activeRecords = async () => {
  const register = registerBucket('partners');
  const names = (await register.listNames()).filter(({ state }) => state === 'there');
  const records = await Promise.all(
    names.map(async ({ client = '' }) => (await register.readPartner(client))?.value),
  );
  return records.filter((record) => record?.active);
};

describe('npm run partner, killed at any of its calls', () => {
  it.each([
    ['add', add, []],
    ['remove', remove, [add]],
    ['rotate', rotate, [add]],
    ['rotate --finish', finish, [add, rotate]],
  ] as const)(
    '%s leaves nothing that remove does not take away, and the name can be used again',
    async (_, command, before) => {
      let kills = 0;
      for (let nth = 1, isKilled = true; isKilled; nth++)
        for (const when of ['before', 'after'] as const) {
          const name = `of-${nth}-${when}`;
          for (const prepare of before) await partnerHere(prepare(name));
          isKilled = await wasKilled(command(name), nth, when);
          kills += Number(isKilled);
          await partnerHere(remove(name));
          expect([aws.clients.size, await activeRecords()]).toEqual([0, []]);
          const added = await partnerHere(add(name));
          const secrets = aws.clients.get(clientIn(added) ?? '')?.secrets.values() ?? [];
          expect([...secrets]).toEqual([secretIn(added)]);
          await partnerHere(remove(name));
        }
      expect(kills).toBeGreaterThanOrEqual(6);
    },
  );
});
