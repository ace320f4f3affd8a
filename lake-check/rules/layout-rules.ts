import { PARTITION_COLUMN } from '../../lib/report/tables.ts';
import { counted } from '../../lib/terminal/counted.ts';
import { fails } from '../column-types.ts';
import { checkCommand, convertFiles, convertLake, initCommand, lakeAround, shellWord } from '../commands.ts';
import { type Finding, inFiles, inTables, type Rule } from '../finding.ts';
import type { FileFault, LakeFacts } from '../lake-facts.ts';

const DAY_FOLDER = `${PARTITION_COLUMN}=YYYY-MM-DD`;

/**
 * A missing table is only a warning: callers are told about it (decision 25), and the reports of the other table are
 * right. If all tables are missing, or a file is in a table's place, reports fail.
 */
const tablesAreThere: Rule = (lake) => {
  const { location, tables } = lake;
  if (tables.every(({ exists, isFile }) => !exists && !isFile)) return [nothingIsThere(lake)];
  return tables.flatMap(({ table, report, isFile, exists, days }) => {
    if (days.length > 0) return [];
    const needed = `${table.name}/${DAY_FOLDER}/<Parquet files>, for ${report.name}`;
    const convert = (files: string) => `\`npm run lake -- convert ${files} --to ${shellWord(location)}\``;
    if (isFile) {
      const cure = `Move the file away. If it holds records, run ${convert('<the moved file>')}.`;
      return { severity: 'fails', paths: [table.name], found: 'it is a file', needed, cure };
    }
    const [found, otherwise] = exists
      ? [`it holds no records: ${report.name} is empty`, 'If there are none yet, do nothing.']
      : [
          `it does not exist: ${report.name} answers 404 no-records`,
          `If there are none, make the table, empty: ${initCommand(location)}.`,
        ];
    const cure = `Put records there: ${convert('<your files>')}. ${otherwise}`;
    return { severity: 'warning', paths: [`${table.name}/`], found, needed, cure };
  });
};

const SHOWN = 5;

/** The finding for a place without any table: another folder is meant, or the files must be converted first. */
function nothingIsThere({ location, tables, others }: LakeFacts): Finding {
  const lake = lakeAround(location);
  const more = others.length > SHOWN ? ` and ${others.length - SHOWN} more` : '';
  const [isThere, cure] = lake
    ? [': this is a part of a lake', `Name the whole lake: ${checkCommand(lake)}.`]
    : others.length > 0
      ? [
          `; here is ${others.slice(0, SHOWN).join(', ')}${more}`,
          `If these are your records, make a lake of them: ${convertFiles(location)}.`,
        ]
      : [
          ': there are no files',
          `Look whether it is the right place. To begin a lake here: ${initCommand(location)}.`,
        ];
  return {
    severity: 'fails',
    paths: tables.map(({ table }) => `${table.name}/`),
    found: `none of these is here${isThere}`,
    needed: `at least one of them, with ${DAY_FOLDER}/<Parquet files> in it`,
    cure,
  };
}

/** Finds files outside of days. No engine ever reads them, so their records are missing in every report. */
const recordsLieInDays = inTables(({ table, strays }, { location }) => {
  const folders = Map.groupBy(strays, ({ path }) => path.split('/')[1] as string);
  return [...folders].map(([name, listed]) => {
    const isFolder = listed.some(({ path }) => path.split('/').length > 2);
    return {
      severity: 'wrong',
      paths: [`${table.name}/${name}${isFolder ? '/' : ''}`],
      found: isFolder
        ? `no day has this name: ${counted(listed.length, 'file')} in it, never read`
        : 'it lies beside the days and is never read',
      needed: `${table.name}/${DAY_FOLDER}/, with a real day of the calendar, in UTC`,
      cure: `${isFolder ? 'Rename the folder to its day' : 'Move it into its day'}, or ${convertLake(location)}: it takes the day from the time.`,
    };
  });
});

/** Every file in a day's folder is read as Parquet, unless its name or a folder's name begins with `_` or `.`. */
const filesAreParquet = inFiles(({ path, size, fault }, _, { location }) => {
  const {
    severity,
    found,
    cure = otherCure(path, location),
  } = (size === 0 ? EMPTY : fault) ?? ({} as Partial<FileFault>);
  const needed = 'a whole Parquet file: every file in a day is read, whatever its name';
  return severity && found !== undefined && { severity, found, needed, cure: `${cure}.` };
});

const EMPTY = fails(
  'it is empty',
  'Remove it. If it is a marker, give it a name that begins with `_`: the engines leave such files out',
);

const otherCure = (path: string, location: string): string =>
  /\.(csv|tsv|txt|gz)$/i.test(path)
    ? `Run ${convertLake(location)}: it reads CSV too`
    : 'Write it again from its source, or remove it and lose its records';

/** A file or folder that can't even be listed may hold records. The engines fail on it or leave it out. */
const allIsReadable: Rule = ({ unreadable }) =>
  unreadable.map(({ path, unreadable: found = '' }) => ({
    severity: 'fails',
    paths: [path],
    found,
    needed: 'files and folders that can be read',
    cure: 'Give the user who runs this the right to read it, put there what it links to, or remove it.',
  }));

/** Finds files of one day with the same bytes. A copy that was left over counts every record twice. */
const filesAreNotCopies = inTables(({ days }) =>
  days.flatMap(({ files }) =>
    [...Map.groupBy(files, ({ digest, size }) => `${digest} ${size}`).values()]
      .filter((alike) => alike.length > 1 && alike[0]?.digest && alike[0].footer?.rows !== 0)
      .map((alike) => ({
        severity: 'wrong',
        paths: alike.map(({ path }) => path),
        found: `${alike.length} files of one day hold the same bytes: their records count ${alike.length} times`,
        needed: 'each record once',
        cure: 'Remove all of these files but one.',
      })),
  ),
);

/** Athena reads no days after today. */
const noFutureDays = inTables(({ table, days }, { location, today }) =>
  days
    .filter(({ day }) => day > today)
    .map(({ day }) => ({
      severity: 'wrong',
      paths: [`${table.name}/${PARTITION_COLUMN}=${day}/`],
      found: `the day has not begun, in UTC (today is ${today}): Athena does not read it`,
      needed: 'days up to today',
      cure: `If only the folder's name is wrong, run ${convertLake(location)}: it takes the day from the time. If the times are, mend them at the source and convert again from there.`,
    })),
);

/** Finds files that Athena leaves out, although the writer may not have meant to hide them. */
const nothingIsHidden = inTables(({ table, hidden }) => {
  const data = hidden.filter(
    ({ path, size }) => size > 0 && !/\.crc$|\/_(SUCCESS|metadata|common_metadata)/.test(path),
  );
  return {
    severity: 'warning',
    paths: data.map(({ path }) => path),
    found: `${table.name} holds files that begin with "_" or ".", or lie in such a folder: they are left out`,
    needed: 'other names, for files that reports should read',
    cure: 'Rename what reports should read. Remove what a killed writer has left.',
  };
});

export const layoutRules: readonly Rule[] = [
  ...[tablesAreThere, recordsLieInDays, allIsReadable, filesAreParquet],
  ...[filesAreNotCopies, noFutureDays, nothingIsHidden],
];
