import { counted } from '../../lib/terminal/counted.ts';
import { isBelow } from '../bounds.ts';
import { convertLake } from '../commands.ts';
import { type Fault, inTables, type Rule } from '../finding.ts';
import { type Footer, filesOf, type TableFacts } from '../lake-facts.ts';
import { dayFolder, SUCCESS_MARKER } from '../layout.ts';
import { companyColumn } from '../report-columns.ts';

/** Finds files that were written after the marker: the day was called complete, and then changed. */
const noWritesAfterMarker = inTables(({ table, days }) =>
  days.flatMap(({ day, files, succeededAt = Infinity }) => {
    const later = files.filter(({ modifiedAt }) => modifiedAt > succeededAt);
    return {
      severity: 'warning',
      paths: later.map(({ path }) => path),
      found: `they were written after the day's ${SUCCESS_MARKER}: a partner may have pulled the day as final before`,
      needed: `${SUCCESS_MARKER} is removed first and put last, whenever a day is written again`,
      cure: `Once the day is whole, remove ${dayFolder(table.name, day)}/${SUCCESS_MARKER} and put it again.`,
    };
  }),
);

/** Finds days that have no marker, although a later day has one. Such a gap is rarely meant. */
const pastDaysAreFinal = inTables(({ table, days }) => {
  const lastFinal = days.findLast(({ succeededAt }) => succeededAt !== undefined)?.day ?? '';
  const open = days.filter(({ day, succeededAt }) => succeededAt === undefined && day < lastFinal);
  return {
    severity: 'warning',
    paths: open.map(({ day }) => `${dayFolder(table.name, day)}/`),
    found: `no ${SUCCESS_MARKER}, though later days have one: partners are told that the day is open`,
    needed: `${SUCCESS_MARKER} in every day that is complete`,
    cure: 'Where a day is complete, put an empty file of this name there. Where a writer was killed, write the day again.',
  };
});

const MEGABYTE = 1_000_000;

/** In a file below this size, the overhead (a listing, a footer, a request) costs more than the records. */
const SMALL_FILE = 8 * MEGABYTE;
const MANY_FILES = 10;

/** From this size on, a company's reports gain from skipping parts of a file. */
const LARGE_FILE = 4 * MEGABYTE;

/** A rule that makes one finding for all files of a table for which `isSo` is true. */
const aboutFiles = (
  isSo: (size: number, footer: Footer, table: TableFacts) => boolean,
  advice: (convert: string, table: TableFacts) => Omit<Fault, 'severity'>,
): Rule =>
  inTables((table, { location }) => {
    const files = filesOf(table).filter(({ size, footer }) => footer && isSo(size, footer, table));
    const paths = files.map(({ path }) => path);
    return { severity: 'advice', paths, ...advice(`Run ${convertLake(location)}`, table) };
  });

const filesAreFew = inTables(({ days }, { location }) => {
  const many = days.filter(({ files: { length }, files }) => {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    return length > MANY_FILES && bytes / length < SMALL_FILE;
  });
  return {
    severity: 'advice',
    paths: many.flatMap(({ files }) => files.map(({ path }) => path)),
    found: `${counted(many.length, 'day')} with many small files: each file costs a request and a footer`,
    needed: 'a few files of 100 MB to 1 GB a day',
    cure: `Run ${convertLake(location)}: it writes one file a day.`,
  };
});

const rowGroupsAreSeveral = aboutFiles(
  (size, { rowGroupRows }) => size > LARGE_FILE && rowGroupRows.length < 2,
  (convert) => ({
    found: 'they are one row group each: a report of one company reads all of it',
    needed: 'several row groups a file',
    cure: `${convert}.`,
  }),
);

const sortedByCompany = aboutFiles(
  (size, footer, { report }) =>
    size > LARGE_FILE && footer.rowGroupRows.length > 1 && !isSorted(footer, companyColumn(report)),
  (convert, { report }) => ({
    column: companyColumn(report),
    found: 'its values are spread over all row groups: a report of one company reads the whole file',
    needed: 'records sorted by company',
    cure: `${convert}: it sorts.`,
  }),
);

/** Whether each row group begins at or above the end of the one before it. */
function isSorted({ statistics }: Footer, column: string): boolean {
  const { min = [], max = [] } = statistics.get(column) ?? {};
  return min.every((value, index) => {
    const before = max[index - 1];
    // A row group without these values holds only NULL, or the footer lacks its statistics. It counts as sorted.
    return value === undefined || before === undefined || !isBelow(value, before);
  });
}

const filesAreCompressed = aboutFiles(
  (size, { compression }) => size > MEGABYTE && compression.includes('UNCOMPRESSED'),
  (convert) => ({
    found: 'they are not compressed: Athena charges for every byte',
    needed: 'zstd or snappy',
    cure: `${convert}: it writes zstd.`,
  }),
);

export const protocolRules: readonly Rule[] = [
  ...[noWritesAfterMarker, pastDaysAreFinal, filesAreFew, rowGroupsAreSeveral, sortedByCompany],
  filesAreCompressed,
];
