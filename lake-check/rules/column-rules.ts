import { distance } from 'fastest-levenshtein';
import type { Report } from '../../lib/report/catalogue.ts';
import { type Column, PARTITION_COLUMN, TIME_COLUMN, tables } from '../../lib/report/tables.ts';
import { adviceOf, fits } from '../column-types.ts';
import type { Finding, Rule } from '../finding.ts';
import { convertLake } from '../lake-commands.ts';
import { type FileFacts, filesOf, type TableFacts } from '../lake-facts.ts';
import { companyColumn } from '../report-columns.ts';

const known = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => name)));

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The name of a file's column that probably means the contract's column `wanted`. Undefined if no name is similar. */
function similarName(wanted: string, names: readonly string[]): string | undefined {
  const [nearest] = names
    .filter((name) => !known.has(name))
    .map((name) => ({ name, edits: distance(bare(wanted), bare(name)) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= 2 ? nearest.name : undefined;
}

/** A rule that looks at each file whose footer could be read. */
const inFiles =
  (
    look: (
      file: FileFacts & Required<Pick<FileFacts, 'footer'>>,
      table: TableFacts,
      location: string,
    ) => Finding[],
  ): Rule =>
  ({ location, tables }) =>
    tables.flatMap((table) =>
      filesOf(table).flatMap((file) =>
        file.footer ? look({ ...file, footer: file.footer }, table, location) : [],
      ),
    );

const columnsFit = inFiles(({ path, footer }, { table }, location) =>
  table.columns.flatMap(({ name, type }) => {
    const found = footer.types.get(name);
    if (found === undefined || fits(type, found)) return [];
    return [
      {
        severity: 'fails',
        paths: [path],
        column: name,
        found: `it is ${found}`,
        needed: type,
        cure: `${adviceOf(type, found, name, `Run ${convertLake(location)}`)}.`,
      },
    ];
  }),
);

const columnsAreThere = inFiles(({ path, footer }, { table, report }) =>
  table.columns
    .filter(({ name }) => !footer.types.has(name))
    .map((column) => ({ paths: [path], column: column.name, ...missing(column, footer.types, report) })),
);

function missing(
  { name, type }: Column,
  types: ReadonlyMap<string, string>,
  report: Report,
): Pick<Finding, 'severity' | 'found' | 'needed' | 'cure'> {
  const similar = similarName(name, [...types.keys()]);
  const hint = similar ? ` The file has ${similar}: if that is it, rename it.` : '';
  if (name === TIME_COLUMN)
    return {
      severity: 'wrong',
      found: 'it is missing: no record has an hour, and windows within a day find nothing',
      needed: type,
      cure: `Write the file again from its source, with the times.${hint}`,
    };
  const isCompany = companyColumn(report) === name;
  return {
    severity: 'warning',
    found: `it is missing, which Athena reads as NULL${isCompany ? ': no caller who is restricted to companies sees these records' : ''}`,
    needed: type,
    cure: hint
      ? hint.trim()
      : 'If the column is younger than the file, do nothing. Else write the file again with it.',
  };
}

const namesAreUnique = inFiles(({ path, footer }) =>
  footer.doubledNames.map((name) => ({
    severity: 'fails' as const,
    paths: [path],
    column: name,
    found: 'the file holds it more than once (the case of letters does not count)',
    needed: 'once',
    cure: 'Write the file again with one of them.',
  })),
);

/** Some writers keep the partition's column in the file too. The engines take the day from the folder. */
const dayIsTheFolders = inFiles(({ path, footer }) =>
  footer.types.has(PARTITION_COLUMN)
    ? [
        {
          severity: 'advice',
          paths: [path],
          column: PARTITION_COLUMN,
          found: 'the file holds it too; the engines take it from the folder',
          needed: 'a file without it',
          cure: 'Leave it out when files are written next; these are read rightly.',
        },
      ]
    : [],
);

/**
 * The column in which DuckDB names a record's file. The stand-in's queries find a record's day by it. Under another
 * name, DuckDB would open the files of all days.
 */
const FILE_NAME = 'filename';

const namesAreFree: Rule = ({ location, tables }) =>
  tables.flatMap((table) => {
    const files = filesOf(table).filter(({ footer }) => footer?.types.has(FILE_NAME));
    if (files.length === 0) return [];
    return [
      {
        severity: location.startsWith('s3://') ? 'warning' : 'fails',
        paths: files.map(({ path }) => path),
        column: FILE_NAME,
        found: 'DuckDB, the engine on one machine, needs this name for its own; Athena and Trino do not',
        needed: 'no column of this name',
        cure: `Run ${convertLake(location)}: it leaves out what the contract does not know.`,
      },
    ];
  });

export const columnRules: readonly Rule[] = [
  columnsFit,
  columnsAreThere,
  namesAreUnique,
  namesAreFree,
  dayIsTheFolders,
];
