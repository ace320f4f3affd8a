import { createHash } from 'node:crypto';
import type { World } from './world.ts';

/**
 * Each company's clicks in each file version are a power of two of their own. So a sum of clicks shows which companies
 * of which file versions it counts.
 */
export const COMPANIES = [1, 2, 3, 4] as const;
const BITS = BigInt(COMPANIES.length);

/** The sum of clicks that the file version number `file` has for the companies in the mask `companies`. */
const clicksOf = (file: number, companies: number): bigint => BigInt(companies) << (BigInt(file) * BITS);

/** The companies as a mask of bits: company 1 is 1, company 2 is 2, company 3 is 4. */
export const maskOf = (companies: readonly number[]): number =>
  companies.reduce((mask, company) => mask | (1 << (company - 1)), 0);

export const EVERY_COMPANY_MASK = maskOf(COMPANIES);

export interface LakeFile {
  readonly key: string;
  readonly day: string;
  readonly etag: string;
  readonly bytes: number;
  readonly lastModified: number;
  /** The number of the file's content. Files with equal content have equal numbers. A file without records has -1. */
  readonly content: number;
  /** Whether the writer of the file removes it again. */
  readonly isPassing: boolean;
}

/** The files of the lake from one moment until the next change. */
export interface LakeState {
  readonly from: number;
  readonly files: ReadonlyMap<string, LakeFile>;
}

const TABLE_FOLDER = 'publisher_events/';
export const dayFolder = (day: string): string => `${TABLE_FOLDER}day=${day}/`;
const MARKER = '_SUCCESS';

/** The day after the last of some days. */
export const dayAfter = (days: readonly string[]): string =>
  new Date(Date.parse(days.at(-1) as string) + 86_400_000).toISOString().slice(0, 10);

export interface ModelledLake {
  /** Every state of the lake so far. The latest comes last. */
  readonly states: readonly LakeState[];
  now(): LakeState;
  /** Writes a file. Its content is new unless `how.content` gives the number of an earlier content. */
  put(day: string, name: string, how?: { readonly content?: number; readonly isPassing?: boolean }): void;
  remove(key: string): void;
  mark(day: string): void;
  unmark(day: string): void;
}

export function modelledLake(world: World): ModelledLake {
  const { time } = world;
  const states: LakeState[] = [{ from: 0, files: new Map() }];
  let contents = 0;
  const now = () => states.at(-1) as LakeState;
  const change = (act: (files: Map<string, LakeFile>) => void) => {
    const files = new Map(now().files);
    act(files);
    states.push({ from: time.now(), files });
  };
  const file = (day: string, name: string, content: number, isPassing = false): LakeFile => ({
    key: dayFolder(day) + name,
    day,
    etag: `"e${content}"`,
    bytes: 1_000 + content,
    lastModified: time.now(),
    content,
    isPassing,
  });
  const write = (written: LakeFile) => {
    world.tell?.('lake', `has ${written.key} ${written.etag}`);
    change((files) => files.set(written.key, written));
  };
  const remove = (key: string) => {
    if (!now().files.has(key)) return;
    world.tell?.('lake', `has no ${key}`);
    change((files) => files.delete(key));
  };
  return {
    states,
    now,
    put: (day, name, { content = contents++, isPassing } = {}) => write(file(day, name, content, isPassing)),
    remove,
    mark: (day) => write(file(day, MARKER, -1)),
    unmark: (day) => remove(dayFolder(day) + MARKER),
  };
}

/** The markers that a day had between `from` and `to`. Undefined stands for none. */
export const markersDuring = (
  states: readonly LakeState[],
  day: string,
  span: { readonly from: number; readonly to: number },
): Set<LakeFile | undefined> =>
  new Set(statesDuring(states, span).map(({ files }) => files.get(dayFolder(day) + MARKER)));

/** The files of a day that Athena reads. It reads no hidden files and no markers. */
export const recordsOf = ({ files }: LakeState, day: string): LakeFile[] =>
  [...files.values()].filter(
    (each) => each.day === day && each.content >= 0 && !isHidden(each) && !each.key.endsWith('/'),
  );

const isHidden = ({ key, day }: LakeFile): boolean =>
  key
    .slice(dayFolder(day).length)
    .split('/')
    .some((name) => /^[_.]/.test(name));

/** A report's clicks by day. Days without records are left out. */
export type Clicks = ReadonlyMap<string, bigint>;

/** The clicks that a report over one state of the lake must have. */
export const clicksIn = (state: LakeState, days: readonly string[], companies: number): Clicks =>
  sumByDay(
    days.flatMap((day) => recordsOf(state, day)),
    companies,
  );

export function sumByDay(files: readonly LakeFile[], companies: number): Clicks {
  const sums = new Map<string, bigint>();
  for (const { day, content } of files) sums.set(day, (sums.get(day) ?? 0n) + clicksOf(content, companies));
  return new Map([...sums].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const versions = new WeakMap<LakeState, Map<string, string>>();

/** The data version of some days, as docs/decisions/0042 defines it. This code is independent of the service's code. */
export function versionOf(state: LakeState, days: readonly string[]): string {
  const known = versions.get(state) ?? new Map<string, string>();
  versions.set(state, known);
  const name = days.join();
  const found = known.get(name);
  if (found) return found;
  const made = digest(
    [...days].sort().flatMap((day) => {
      const files = recordsOf(state, day).sort((one, other) => (one.key < other.key ? -1 : 1));
      return files.length > 0 ? [[day, digest(files.map(({ key, etag, bytes }) => [key, etag, bytes]))]] : [];
    }),
  );
  known.set(name, made);
  return made;
}

const digest = (facts: unknown): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32);

/** The states that the lake was in at any moment between `from` and `to`. */
export const statesDuring = (
  states: readonly LakeState[],
  { from, to }: { readonly from: number; readonly to: number },
): LakeState[] =>
  states.filter(
    (state, index) => state.from <= to && (states[index + 1]?.from ?? Number.POSITIVE_INFINITY) >= from,
  );
