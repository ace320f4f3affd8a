import type { LakeFacts } from './lake-facts.ts';

/**
 * How bad a finding is, the worst first. `wrong`: reports are false and nobody notices. `fails`: reports fail.
 * `warning`: reports are right, but perhaps not what was meant. `advice`: reports are right, but could cost less.
 */
const SEVERITIES = ['wrong', 'fails', 'warning', 'advice'] as const;

export type Severity = (typeof SEVERITIES)[number];

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

/** Looks for one kind of fault. */
export type Rule = (lake: LakeFacts) => Finding[];

/** Whether reports are right in spite of the finding. */
export const isHarmless = ({ severity }: Finding): boolean => severity === 'warning' || severity === 'advice';

/** Merges equal findings of several files into one. Sorts by severity, then by the number of files. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const alike = Map.groupBy(findings, ({ severity, column, found, needed, cure }) =>
    JSON.stringify([severity, column, found, needed, cure]),
  );
  return [...alike.values()]
    .map((group) => ({ ...(group[0] as Finding), paths: group.flatMap(({ paths }) => paths) }))
    .sort(
      (a, b) =>
        SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.paths.length - a.paths.length,
    );
}

const SHOWN = 3;

/** `a.parquet, b.parquet and 7 more` */
function listed(paths: readonly string[]): string {
  const more = paths.length - SHOWN;
  return more > 1 ? `${paths.slice(0, SHOWN).join(', ')} and ${more} more` : paths.join(', ');
}

/** A finding in one line: the paths, what was found, what is needed, and the cure. */
export const lineOf = ({ paths, column, found, needed, cure }: Finding): string =>
  `${listed(paths)}: ${column ? `${column}: ` : ''}${found}; needed: ${needed}. ${cure}`;
