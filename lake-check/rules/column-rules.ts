import { distance } from 'fastest-levenshtein';
import { TIME_COLUMN, tables } from '../../lib/report/tables.ts';
import { adviceOf, fits } from '../column-types.ts';
import { convertLake } from '../commands.ts';
import { inFiles, type Rule } from '../finding.ts';
import { companyColumn } from '../report-columns.ts';

const contractColumns = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)));

/** A name in lower case, without separators. It is the same for `placementId`, `Placement ID` and `placement_id`. */
export const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * The name of a file's column that probably means the contract's column `wanted`, such as `click`, `revenue_usd` or
 * `ads_served`. Undefined if no name is similar.
 */
export function similarName(wanted: string, names: readonly string[]): string | undefined {
  const words = (name: string) => name.toLowerCase().split(/[^a-z0-9]+/);
  const [nearest] = names
    .filter((name) => !contractColumns.has(name))
    .map((name) => {
      const holds =
        words(wanted).every((word) => words(name).includes(word)) || bare(name).includes(bare(wanted));
      return { name, edits: holds ? 1 : distance(bare(wanted), bare(name)) };
    })
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= 2 ? nearest.name : undefined;
}

const columnsFit = inFiles(({ footer }, { table }, { location }) =>
  table.columns.flatMap(({ name: column, type: needed }) => {
    const found = footer?.types.get(column);
    if (found === undefined || fits(needed, found)) return [];
    const cure = `${adviceOf(needed, found, column, `Run ${convertLake(location)}`)}.`;
    return { severity: 'fails', column, found: `it is ${found}`, needed, cure };
  }),
);

const columnsAreThere = inFiles(({ footer }, { table, report }) => {
  if (!footer) return [];
  const missing = table.columns.filter(({ name }) => !footer.types.has(name));
  return missing.map(({ name: column, type: needed }) => {
    const similar = similarName(column, [...footer.types.keys()]);
    const hint = similar ? ` The file has ${similar}: if that is it, rename it.` : '';
    if (column === TIME_COLUMN)
      return {
        severity: 'wrong',
        column,
        found: 'it is missing: no record has an hour, and windows within a day find nothing',
        needed,
        cure: `Write the file again from its source, with the times.${hint}`,
      };
    const isCompany = column === companyColumn(report);
    const found = `it is missing, which Athena reads as NULL${isCompany ? ': no caller who is restricted to companies sees these records' : ''}`;
    const young = 'If the column is younger than the file, do nothing. Else write the file again with it.';
    return { severity: 'warning', column, found, needed, cure: hint.trim() || young };
  });
});

const namesAreUnique = inFiles(({ footer }) =>
  footer?.doubledNames.map((column) => ({
    severity: 'fails',
    column,
    found: 'the file holds it more than once (the case of letters does not count)',
    needed: 'once',
    cure: 'Write the file again with one of them.',
  })),
);

/** The column in which DuckDB names a record's file. Under another name, it would open the files of all days. */
const FILE_NAME = 'filename';

const namesAreFree = inFiles(
  ({ footer }, _, { location }) =>
    footer?.types.has(FILE_NAME) && {
      severity: location.startsWith('s3://') ? 'warning' : 'fails',
      column: FILE_NAME,
      found: 'DuckDB, the engine on one machine, needs this name for its own; Athena and Trino do not',
      needed: 'no column of this name',
      cure: `Run ${convertLake(location)}: it leaves out what the contract does not know.`,
    },
);

export const columnRules: readonly Rule[] = [...[columnsFit, columnsAreThere, namesAreUnique, namesAreFree]];
