import { tables } from '../../lib/report/tables.ts';
import { lakeTarget } from './open-target.ts';

/** Makes the tables that a lake lacks, empty: their reports are empty then, and nobody takes them for missing. */
export async function init(location: string): Promise<string> {
  const target = lakeTarget(location);
  const there = await target.tables();
  const missing = tables.filter(({ name }) => !there.has(name));
  for (const { name } of missing) await target.makeTable(name);
  const made = missing.map(({ name }) => `Made ${name}, empty.\n`).join('');
  return made || `Nothing was missing: ${tables.map(({ name }) => name).join(' and ')} are there.\n`;
}
