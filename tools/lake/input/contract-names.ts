import { tables } from '../../../lib/report/tables.ts';

/** `placementId`, `Placement ID` and `placement_id` are the same name to a reader. */
export const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

const CONTRACT = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => bare(name))));

/** Whether a name is that of one of the contract's columns. */
export const isContractName = (name: string): boolean => CONTRACT.has(bare(name));
