import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  checkCommand,
  initCommand as commandFor,
  convertFiles,
  lakeAround,
} from '../../lake-check/lake-commands.ts';
import { tables } from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { LakeCommand } from './lake-command.ts';
import { isBucket } from './store/bucket.ts';
import { lakeTarget } from './store/folder-target.ts';

const usage = `npm run lake -- init <folder | s3://bucket/prefix>
  Makes the tables that are missing, empty. A folder that does not exist is made too.
`;

/** `npm run lake -- init`. */
export const initCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { positionals } = parseArgs({ args: [...parameters], allowPositionals: true });
    const [location, ...others] = positionals;
    if (!location || others.length > 0) throw new OperatorFault(usage);
    say(await init(location));
    return 0;
  },
};

/**
 * Makes the tables that the lake lacks, without records. Their reports are then empty. Without the tables, the service
 * would answer 404.
 */
async function init(location: string): Promise<string> {
  const lake = lakeAround(location);
  if (lake !== undefined)
    throw new OperatorFault(
      `${location} is a part of the lake ${lake}. Name the whole lake: ${commandFor(lake)}`,
    );
  const isNew = !isBucket(location) && (await isNewFolder(location));
  const target = lakeTarget(location);
  const there = await target.tables();
  const missing = tables.filter(({ name }) => !there.has(name));
  for (const { name } of missing) await target.makeTable(name);
  const done = [
    ...(isNew ? [`Made the folder ${resolve(location)}, which did not exist.`] : []),
    ...missing.map(({ name }) => `Made ${name}, empty.`),
    ...(missing.length === 0
      ? [`Nothing was missing: ${tables.map(({ name }) => name).join(' and ')} are there.`]
      : []),
    `Next: ${checkCommand(location)}`,
  ];
  return `${done.join('\n')}\n`;
}

async function isNewFolder(location: string): Promise<boolean> {
  const found = await stat(location).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found && !found.isDirectory())
    throw new OperatorFault(
      `${location} is a file, and a lake is a folder. To make a lake of the file: ${convertFiles(location)}`,
    );
  return found === undefined;
}
