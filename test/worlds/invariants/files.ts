/**
 * Rules: a file under `reports/` never changes. It has its execution's result and the numbers of its data version. A
 * publication fails only if its result is not the engine's CSV, or if its result or its request is gone. It is
 * requested with that file first which the caller of the request takes.
 */
import { running } from '../invocation.ts';
import { reportCsv } from '../modelled-athena.ts';
import { dayAfter } from '../modelled-lake.ts';
import type { Parts } from '../parts.ts';
import type { FileWrite } from '../s3-client.ts';
import { judge } from './judge.ts';
import { isNamedHole, versionFindings } from './versions.ts';

const KEY = /^reports\/([^/]+)\/([^/]+\.csv)(\.gz)?$/;

export const executionOf = (key: string): string | undefined => KEY.exec(key)?.[1];

const fileNameOf = (days: readonly string[]): string =>
  `publisherperformance_${days[0]}T000000Z_${dayAfter(days)}T000000Z.csv`.replaceAll('-', '');

export function checkFile(parts: Parts, { key, text, file, found, by }: FileWrite): void {
  const { world, athena } = parts;
  const query = athena.queries.get(executionOf(key) ?? '');
  const isOfResult = query?.clicks !== undefined && !query.isJunk && query.state === 'SUCCEEDED';
  const words = () => `${by.id} writes ${key}: ${JSON.stringify(text)}`;
  judge(world, { 'file-of-nothing': !isOfResult }, words);
  if (!isOfResult) return;
  const version = file.metadata['data-version'];
  if (version !== undefined && isNamedHole(parts, query))
    world.count('named hole: a file came and went unmarked');
  const findings = {
    'file-would-change': found && found.text !== text,
    'file-is-not-its-result': text !== reportCsv(query.clicks ?? new Map()),
    'other-file-name': [KEY.exec(key)?.[2], file.fileName].some(
      (name) => name !== fileNameOf(query.report.days),
    ),
    'other-encoding': key.endsWith('.gz') !== (file.encoding === 'gzip'),
    ...(version !== undefined && versionFindings(parts, query, version)),
  };
  judge(world, findings, words);
}

export function checkPublication({ world, athena, s3 }: Parts, id: string, error: unknown): void {
  const [, execution = ''] = /^\w+:([^.]+)/.exec(id) ?? [];
  const query = athena.queries.get(execution);
  const message = String(error);
  const isGone =
    (message.includes('is gone') && !s3.get(`athena/${execution}.csv`)) ||
    (message.includes('no publication') && !s3.get(`publications/${execution}.json`));
  judge(world, { 'publication-failed-without-cause': !query?.isJunk && !isGone }, () => `${id}: ${message}`);
}

export function firstFileRule({ world, s3, pulls }: Parts): void {
  s3.onCreated.push((key, { document }) => {
    const by = running.getStore();
    const { caller } = pulls.findLast(({ caller: { id } }) => by?.id.startsWith(`${id}.`)) ?? {};
    if (!key.startsWith('publications/') || !caller || by?.machine.isOfReleaseBefore) return;
    const { isPlainFirst = false } = document as { readonly isPlainFirst?: boolean };
    const findings = { 'other-file-first': isPlainFirst === caller.acceptsGzip };
    judge(world, findings, () => `${by?.id} asks for ${key}, plain file first: ${isPlainFirst}`);
  });
}
