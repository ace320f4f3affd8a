import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type LakeRun, runLake } from '../tools/run-lake.ts';
import { type Group, groupsIn, inOrder, totalsOf } from './lake-groups.ts';

/** A folder that a tool has written, and the expected result of its conversion. */
export interface Source {
  /** The folder's name. Beside the folder, `<name>.json` has the groups that the lake must have. */
  readonly name: string;
  readonly options?: readonly string[];
  /** The text that `convert` must print in addition to the sums. */
  readonly says?: RegExp;
  /** The refusal, which says what to change, if `convert` refuses the folder. */
  readonly refused?: RegExp;
  /** The source after that change. */
  readonly cured?: Cured;
}

/** The same folder with these options, or another folder with the same records, written as the refusal advises. */
type Cured = Pick<Source, 'options' | 'says'> & { readonly name?: string };

export const titleOf = ({ name, options = [], refused, cured }: Source): string => {
  const asked = [name, ...options].join(' ');
  return refused
    ? `${asked}: refused; cured by ${[cured?.name, ...(cured?.options ?? [])].join(' ')}`
    : asked;
};

/**
 * Converts a folder to a lake in `home`. If `refused` is given, first checks that the folder is refused, and then
 * converts it as the refusal advises.
 */
export async function bringIn(home: string, { refused, cured, ...source }: Source): Promise<void> {
  if (refused) await expectRefused(home, source, refused);
  const accepted = { ...source, ...cured };
  const expected = await readFile(join(home, `${accepted.name}.json`), 'utf8');
  await expectLake(home, accepted, JSON.parse(expected) as Group[]);
}

async function expectRefused(home: string, source: Source, says: RegExp): Promise<void> {
  const { code, stderr, lake } = await convert(home, source);
  expect({ code, stderr, written: await readdir(lake) }).toEqual({
    code: 2,
    stderr: expect.stringMatching(says),
    written: [],
  });
}

/** Fails unless `convert` and `check` accept the source, and the lake has exactly these groups. */
export async function expectLake(home: string, source: Source, expected: readonly Group[]): Promise<void> {
  const { code, stdout, stderr, lake } = await convert(home, source);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await groupsIn(lake)).toEqual(inOrder(expected));
  for (const [name, total] of Object.entries(totalsOf(expected)))
    expect(stdout).toMatch(RegExp(`\\b${name} +${total}(?![\\d.])`));
  if (source.says) expect(stdout).toMatch(source.says);
  const checked = await runLake(['check', lake]);
  expect(checked.code, checked.stdout).toBe(0);
}

async function convert(home: string, { name, options = [] }: Source): Promise<LakeRun & { lake: string }> {
  const lake = await mkdtemp(join(home, 'lake-'));
  return { ...(await runLake(['convert', join(home, name), '--to', lake, ...options])), lake };
}
