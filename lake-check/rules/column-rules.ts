import type { Report } from '../../lib/report/catalogue.ts';
import { type Column, type ColumnType, PARTITION_COLUMN, TIME_COLUMN } from '../../lib/report/tables.ts';

import { fits } from '../column-types.ts';
import type { Finding, Rule } from '../finding.ts';
import { convertLake } from '../lake-commands.ts';
import { type FileFacts, filesOf, type TableFacts } from '../lake-facts.ts';
import { companyColumn } from '../report-columns.ts';
import { similarName } from '../similar-name.ts';

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
    if (!found || fits(type, found)) return [];
    return [
      {
        severity: 'fails',
        paths: [path],
        column: name,
        found: `it is ${found}`,
        needed: type,
        cure: cureOf(type, found, `Run ${convertLake(location)}`),
      },
    ];
  }),
);

const isInteger = (found: string): boolean => /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(found);

function cureOf(type: ColumnType, found: string, convert: string): string {
  if (found === 'nested')
    return 'Write the file again with a plain column: lists and structs have no meaning here.';
  if (type === 'timestamp') {
    if (isInteger(found))
      return `${convert}: it judges by the whole column what the numbers count since 1970, and says so. --time-unit decides it.`;
    if (found === 'DATE')
      return `${convert}: the records get the midnight of their day. If there were hours, they are lost already.`;
    return `${convert}: it takes YYYY-MM-DD hh:mm:ss with or without a zone. Where there is none it takes UTC; --time-zone names another.`;
  }
  if (type === 'decimal(18,6)') {
    if (/^(DOUBLE|FLOAT)$/.test(found))
      return `${convert}: it writes the amount that the float was meant to be, and refuses more than six places. --round rounds them.`;
    return `${convert}: it keeps every digit, or refuses more than six places. --round rounds them.`;
  }
  if (type === 'bigint') return `${convert}: it takes whole numbers within 64 bits and refuses the rest.`;
  return `${convert}: it writes text.`;
}

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
