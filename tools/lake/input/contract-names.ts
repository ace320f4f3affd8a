import { tables } from '../../../lib/report/tables.ts';

/** A name in lower case, without separators. It is the same for `placementId`, `Placement ID` and `placement_id`. */
export const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

const CONTRACT = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => bare(name))));

/** Whether a column of the contract has this name. */
export const isContractName = (name: string): boolean => CONTRACT.has(bare(name));
