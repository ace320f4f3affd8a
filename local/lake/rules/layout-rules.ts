import { PARTITION_COLUMN } from '../../../lib/report/tables.ts';
import type { Finding, Rule } from '../finding.ts';
import { type FileFacts, filesOf, type TableFacts } from '../lake-facts.ts';

const DAY_FOLDER = `${PARTITION_COLUMN}=YYYY-MM-DD`;

/** A table of which there is nothing: its report is empty, and callers should not take that for an answer. */
const tablesAreThere: Rule = ({ tables, others }) => {
  const missing = tables.filter(({ days }) => days.length === 0);
  const beside = others.length > 0 ? ` (there is ${others.slice(0, 5).join(', ')})` : '';
  return missing.map(({ table, report, isFile, exists }) => ({
    severity: isFile || (!exists && missing.length === tables.length) ? 'fails' : 'warning',
    paths: [`${table.name}${isFile ? '' : '/'}`],
    found: isFile ? 'it is a file' : `${exists ? 'it holds no records' : 'it does not exist'}${beside}`,
    needed: `${table.name}/${DAY_FOLDER}/<Parquet files>, for ${report.name}`,
    cure: isFile
      ? 'Move the file away and lay the table out as a folder.'
      : exists
        ? 'Put the records there, or live with an empty report.'
        : 'Put the records there, or make an empty table with `npm run lake -- init`.',
  }));
};

/** Files outside of days: no engine ever looks at them, so that their records are missing in every report. */
const recordsLieInDays: Rule = ({ tables }) =>
  tables.flatMap(({ table, strays }) => {
    const folders = Map.groupBy(strays, ({ path }) => path.split('/')[1] as string);
    return [...folders].map(([name, listed]): Finding => {
      const isFolder = listed.some(({ path }) => path.split('/').length > 2);
      return {
        severity: 'wrong',
        paths: [`${table.name}/${name}${isFolder ? '/' : ''}`],
        found: isFolder
          ? `no day has this name; the ${listed.length} ${listed.length === 1 ? 'file' : 'files'} in it are never read`
          : 'it lies beside the days and is never read',
        needed: `${table.name}/${DAY_FOLDER}/, with a real day of the calendar, in UTC`,
        cure: isFolder
          ? 'Rename the folder, or convert the files in it.'
          : 'Move it into its day, or convert it.',
      };
    });
  });

/** Everything in a day's folder is read as Parquet, whatever its name. */
const filesAreParquet: Rule = ({ tables }) =>
  tables.flatMap((table) =>
    filesOf(table)
      .filter(({ unreadable, size }) => unreadable !== undefined || size === 0)
      .map((file) => ({
        severity: 'fails' as const,
        paths: [file.path],
        found: foundIn(file),
        needed: 'a whole Parquet file: every file in a day is read, whatever its name',
        cure: cureOf(file),
      })),
  );

const foundIn = ({ size, unreadable = '' }: FileFacts): string => {
  if (size === 0) return 'it is empty';
  if (/footer|magic bytes|too small/i.test(unreadable))
    return /encrypted/i.test(unreadable) ? 'it is encrypted' : 'it is not a Parquet file, or not a whole one';
  // DuckDB names the file by where it read it.
  return `it can't be read (${unreadable.replaceAll(/"?\/\S+"?/g, '…')})`;
};

const cureOf = ({ size, path }: FileFacts): string => {
  if (size === 0) return 'Remove it; a name that begins with `_` hides a marker.';
  return /\.(csv|tsv|txt|gz)$/i.test(path)
    ? 'Convert it: `npm run lake -- convert` reads CSV. Then remove it here.'
    : 'Write it again, or remove it.';
};

/** What can't even be listed may hold records, which the engines fail on or leave out. */
const allIsReadable: Rule = ({ unreadable }) =>
  unreadable.map(({ path, unreadable: reason = '' }) => ({
    severity: 'fails',
    paths: [path],
    found: reason,
    needed: 'files and folders that can be read',
    cure: 'Give the right to read it, put there what it links to, or remove it.',
  }));

/** The same bytes twice in one day: a copy that was left over counts every record twice. */
const filesAreNotCopies: Rule = ({ tables }) =>
  tables.flatMap(({ days }) =>
    days.flatMap(({ files }) =>
      [...Map.groupBy(files, ({ digest, size }) => `${digest} ${size}`).values()]
        .filter((alike) => alike.length > 1 && alike[0]?.digest && alike[0].footer?.rows !== 0)
        .map((alike) => ({
          severity: 'wrong' as const,
          paths: alike.map(({ path }) => path),
          found: `${alike.length} files of one day hold the same bytes: their records count ${alike.length} times`,
          needed: 'each record once',
          cure: 'Remove all of them but one.',
        })),
    ),
  );

/** Athena's days end with today. */
const daysHaveCome: Rule = ({ tables, today }) =>
  tables.flatMap(({ table, days }: TableFacts) => {
    const future = days.filter(({ day }) => day > today);
    return future.map(({ day }) => ({
      severity: 'wrong' as const,
      paths: [`${table.name}/${PARTITION_COLUMN}=${day}/`],
      found: `the day has not begun, in UTC (today is ${today}): Athena does not read it`,
      needed: 'days up to today',
      cure: 'Convert the files again from their source, so that each record lands in its own day.',
    }));
  });

/** What Athena leaves out, and a writer may not have meant to hide. */
const nothingIsHidden: Rule = ({ tables }) =>
  tables.flatMap(({ table, hidden }) => {
    const data = hidden.filter(
      ({ path, size }) => size > 0 && !/\.crc$|\/_(SUCCESS|metadata|common_metadata)/.test(path),
    );
    if (data.length === 0) return [];
    return [
      {
        severity: 'warning' as const,
        paths: data.map(({ path }) => path),
        found: `${table.name} holds files that begin with "_" or ".", or lie in such a folder: they are left out`,
        needed: 'nothing: a writer that was killed may have left them',
        cure: 'Rename what should be read, and remove the rest.',
      },
    ];
  });

export const layoutRules: readonly Rule[] = [
  tablesAreThere,
  recordsLieInDays,
  allIsReadable,
  filesAreParquet,
  filesAreNotCopies,
  daysHaveCome,
  nothingIsHidden,
];
