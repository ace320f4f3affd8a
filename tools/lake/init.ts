import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  checkCommand,
  initCommand as commandFor,
  convertFiles,
  lakeAround,
} from '../../lake-check/commands.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { parseOptions, wordsOf } from '../parse-options.ts';
import { type LakeCommand, TABLES } from './lake-command.ts';
import { isBucket } from './store/bucket.ts';
import { lakeTarget } from './store/bucket-lake.ts';
import { tablesIn } from './store/lake-target.ts';

const usage = `npm run lake -- init <folder | s3://bucket/prefix>
  Makes the tables that are missing, empty. A folder that does not exist is made too.
`;

/**
 * `npm run lake -- init`. Makes the tables that the lake lacks, without records. Their reports are then empty. Without
 * the tables, the service would answer 404.
 */
export const initCommand: LakeCommand = {
  usage,
  async run(args, say) {
    const [location] = wordsOf(parseOptions(args, {}).positionals, usage);
    const lake = lakeAround(location);
    if (lake !== undefined)
      throw new OperatorFault(
        `${location} is a part of the lake ${lake}. Name the whole lake: ${commandFor(lake)}`,
      );
    const found = isBucket(location) ? undefined : statSync(location, { throwIfNoEntry: false });
    if (found && !found.isDirectory())
      throw new OperatorFault(
        `${location} is a file, and a lake is a folder. To make a lake of the file: ${convertFiles(location)}`,
      );
    const target = lakeTarget(location);
    const there = await tablesIn(target);
    const missing = TABLES.filter((name) => !there.has(name));
    for (const name of missing) await target.makeTable(name);
    const done = [
      ...(!found && !isBucket(location)
        ? [`Made the folder ${resolve(location)}, which did not exist.`]
        : []),
      ...missing.map((name) => `Made ${name}, empty.`),
      ...(missing.length === 0 ? [`Nothing was missing: ${TABLES.join(' and ')} are there.`] : []),
      `Next: ${checkCommand(location)}`,
    ];
    say(`${done.join('\n')}\n`);
    return 0;
  },
};
