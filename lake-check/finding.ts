import { counted } from '../lib/terminal/counted.ts';
import type { FileFacts, Footer, LakeFacts, TableFacts, ValueFacts } from './lake-facts.ts';

/**
 * How bad a finding is, the worst first. `wrong`: reports are false and nobody notices. `fails`: reports fail.
 * `warning`: reports are right, but perhaps not what was meant. `advice`: reports are right, but could cost less.
 */
const SEVERITIES = ['wrong', 'fails', 'warning', 'advice'] as const;

type Severity = (typeof SEVERITIES)[number];

/** One kind of deviation from the data contract, in one or more files. */
export interface Finding {
  readonly severity: Severity;
  /** The files or folders at fault, by their path from the lake's root. A folder has a slash at its end. */
  readonly paths: readonly string[];
  readonly column?: string;
  readonly found: string;
  readonly needed: string;
  readonly cure: string;
}

/** A finding without its files. */
export type Fault = Omit<Finding, 'paths'>;

/** Looks for one kind of fault. */
export type Rule = (lake: LakeFacts) => Finding[];

/** A rule that looks at each table. What is found in no file or folder is no finding. */
export const inTables =
  (look: (table: TableFacts, lake: LakeFacts) => Finding | readonly Finding[]): Rule =>
  (lake) =>
    lake.tables.flatMap((table) => look(table, lake)).filter(({ paths }) => paths.length > 0);

/** A rule that looks at each file of a day. */
export const inFiles = (look: (...place: Place) => Fault | readonly Fault[] | false | undefined): Rule =>
  inTables((table, lake) =>
    table.days.flatMap(({ day, files }) =>
      files.flatMap((file) =>
        [look(file, table, lake, day) || []].flat().map((fault) => ({ paths: [file.path], ...fault })),
      ),
    ),
  );

type Place = readonly [file: FileFacts, table: TableFacts, lake: LakeFacts, day: string];

/** A rule about records of a file. `inFooter` says whether there are some, if only footers were read. */
export const onRecords = (
  count: (values: ValueFacts) => number,
  describe: (records: string, table: TableFacts, lake: LakeFacts) => Fault,
  inFooter: (footer: Footer, day: string) => boolean = () => false,
): Rule =>
  inFiles(({ values, footer }, table, lake, day) => {
    if (!values) return footer && inFooter(footer, day) && describe('some records', table, lake);
    const found = count(values);
    return found > 0 && describe(counted(found, 'record'), table, lake);
  });

/** Whether reports are right in spite of the finding. */
export const isHarmless = ({ severity }: Finding): boolean => severity === 'warning' || severity === 'advice';

/** Merges equal findings of several files into one. Sorts by severity, then by the number of files. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const alike = Map.groupBy(findings, ({ severity, column, found, needed, cure }) =>
    JSON.stringify([severity, column, found, needed, cure]),
  );
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return [...alike.values()]
    .map((group) => ({ ...(group[0] as Finding), paths: group.flatMap(({ paths }) => paths) }))
    .sort((a, b) => rank(a) - rank(b) || b.paths.length - a.paths.length);
}

const SHOWN = 3;

/** A finding in one line: the paths (`a.parquet, b.parquet and 7 more`), what was found, what is needed, the cure. */
export function lineOf({ paths, column, found, needed, cure }: Finding): string {
  const more = paths.length - SHOWN;
  const listed = more > 1 ? `${paths.slice(0, SHOWN).join(', ')} and ${more} more` : paths.join(', ');
  return `${listed}: ${column ? `${column}: ` : ''}${found}; needed: ${needed}. ${cure}`;
}
