/** Rule: a file under `reports/` never changes. It has its execution's result and the numbers of its data version. */
import { type EngineQuery, reportCsv } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';
import type { FileWrite } from '../s3-client.ts';
import { isNamedHole, versionFault } from './versions.ts';

const KEY = /^reports\/([^/]+)\/([^/]+\.csv)(\.gz)?$/;

export const executionOf = (key: string): string | undefined => KEY.exec(key)?.[1];

export function checkFile(parts: Parts, write: FileWrite): void {
  const { world, athena } = parts;
  const query = athena.queries.get(executionOf(write.key) ?? '');
  for (const fault of faultsOf(parts, write, query))
    if (fault !== undefined)
      world.violate(fault, `${write.by.id} writes ${write.key}: ${JSON.stringify(write.text)}`);
}

const DAY_MS = 86_400_000;

const fileNameOf = (days: readonly string[]): string => {
  const end = new Date(Date.parse(days.at(-1) as string) + DAY_MS).toISOString().slice(0, 10);
  return `publisherperformance_${days[0]}T000000Z_${end}T000000Z.csv`.replaceAll('-', '');
};

function faultsOf(
  { lake, world }: Parts,
  { key, text, metadata, found }: FileWrite,
  query: EngineQuery | undefined,
): (string | undefined)[] {
  if (!query?.clicks || query.isJunk || query.state !== 'SUCCEEDED') return ['file-of-nothing'];
  const version = metadata['data-version'];
  if (version !== undefined && isNamedHole({ lake, world }, query))
    world.count('named hole: a file came and went unmarked');
  return [
    found && found.text !== text ? 'file-would-change' : undefined,
    text === reportCsv(query.clicks) ? undefined : 'file-is-not-its-result',
    KEY.exec(key)?.[2] === fileNameOf(query.asked.days) ? undefined : 'other-file-name',
    version === undefined ? undefined : versionFault({ lake, world }, query, version),
  ];
}
