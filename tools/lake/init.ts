import { parseArgs } from 'node:util';
import { tables } from '../../lib/report/tables.ts';
import type { LakeCommand } from './lake-command.ts';
import { LakeFault } from './lake-fault.ts';
import { lakeTarget } from './open-target.ts';

const usage = `npm run lake -- init <folder | s3://bucket/prefix>
  Makes the tables that are missing, empty.
`;

/** `npm run lake -- init`. */
export const initCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { positionals } = parseArgs({ args: [...parameters], allowPositionals: true });
    const [location, ...others] = positionals;
    if (!location || others.length > 0) throw new LakeFault(usage);
    say(await init(location));
    return 0;
  },
};

/** Makes the tables that a lake lacks, empty: their reports are empty then, and nobody takes them for missing. */
async function init(location: string): Promise<string> {
  const target = lakeTarget(location);
  const there = await target.tables();
  const missing = tables.filter(({ name }) => !there.has(name));
  for (const { name } of missing) await target.makeTable(name);
  const made = missing.map(({ name }) => `Made ${name}, empty.\n`).join('');
  return made || `Nothing was missing: ${tables.map(({ name }) => name).join(' and ')} are there.\n`;
}
