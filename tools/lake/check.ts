import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Finding, isHarmless, type Severity } from '../../lake-check/finding.ts';
import { checkCommand as checkOf, shellWord } from '../../lake-check/lake-commands.ts';
import { filesOf, type LakeFacts, type TableFacts } from '../../lake-check/lake-facts.ts';
import { folderSource } from '../../lake-check/lake-source.ts';
import { readLake } from '../../lake-check/read-lake.ts';
import { judge } from '../../lake-check/rules.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { counted } from '../../lib/terminal/counted.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { repeatedProgress, showProgress } from '../../lib/terminal/progress.ts';
import type { LakeCommand } from './lake-command.ts';
import { isBucket } from './store/bucket.ts';
import { bucketSource } from './store/bucket-lake.ts';
import { openWorkspace } from './workspace/open-duckdb.ts';

const usage = `npm run lake -- check <folder | s3://bucket/prefix> [--footers] [--all]
  Lists everything that is wrong with a lake, the worst first. Exit 0 where reports will be right.
  --footers  read no records, only what the files' footers tell
  --all      name every file of a finding
`;

/** `npm run lake -- check`. The exit code is 1 if reports will be wrong or fail. */
export const checkCommand: LakeCommand = {
  usage,
  async run(parameters, say) {
    const { values, positionals } = parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        footers: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
      },
    });
    const [location, ...others] = positionals;
    if (!location || others.length > 0) throw new OperatorFault(usage);
    const { text, isRight } = await check(location, { footersOnly: values.footers, all: values.all });
    say(text);
    return isRight ? 0 : 1;
  },
};

/** Reads a lake and lists what is wrong with it. Resolves to the text, and to whether reports will be right. */
async function check(
  location: string,
  { footersOnly, all }: CheckOptions,
): Promise<{ readonly text: string; readonly isRight: boolean }> {
  using told = repeatedProgress(showProgress(process.stderr));
  await using workspace = await openWorkspace();
  // DuckDB's file cache costs a fifth of the CPU time. It would not help, because a check reads nothing twice.
  await workspace.connection.run('SET enable_external_file_cache = false');
  const source = isBucket(location)
    ? bucketSource(location, join(workspace.directory, 'copies'))
    : folderSource(location);
  const lake = await readLake(workspace.connection, source, {
    depth: footersOnly ? 'footers' : 'records',
    today: utcDay(Date.now()),
    onProgress: told.onProgress,
  });
  const findings = judge(lake);
  return { text: renderCheck(lake, findings, { all, footersOnly }), isRight: findings.every(isHarmless) };
}

interface CheckOptions {
  /** Whether to read only the files' footers, and no records. */
  readonly footersOnly: boolean;
  /** Whether to name every file of a finding. */
  readonly all: boolean;
}

const HEADING: Readonly<Record<Severity, string>> = {
  wrong: 'WRONG NUMBERS',
  fails: 'REPORTS FAIL',
  warning: 'warning',
  advice: 'advice',
};

const SHOWN = 5;

/** What a check has found, for the operator's terminal. */
function renderCheck(
  lake: LakeFacts,
  findings: readonly Finding[],
  { all, footersOnly }: CheckOptions,
): string {
  const parts = [
    [lake.location, ...lake.tables.map(summaryOf)].join('\n'),
    ...findings.map((finding, index) => renderFinding(finding, index + 1, all)),
    outcomeOf(lake.location, findings, footersOnly),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The last lines: whether reports can be relied on, and what to do next. */
function outcomeOf(location: string, findings: readonly Finding[], footersOnly: boolean): string {
  const faults = findings.filter((finding) => !isHarmless(finding));
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  const [first, ...others] = faults;
  if (first)
    return [
      `Reports will be wrong or fail: ${counted(faults.length, 'fault')}.`,
      others.length === 0
        ? `Next: ${first.cure}`
        : `Next: cure them, the first one first, and check again: ${checkOf(location)}`,
    ].join('\n');
  const but = warnings > 0 ? `; ${counted(warnings, 'warning')}: see whether that is what you mean` : '';
  const next = footersOnly
    ? `read the records too: ${checkOf(location)}`
    : isBucket(location)
      ? 'docs/deploy.md says how a stage serves it'
      : `serve it on this machine: \`EVENTS_DIR=${shellWord(resolve(location))} npm start\``;
  return `Reports will be right${footersOnly ? ', as far as the footers tell' : ''}${but}.\nNext: ${next}`;
}

function renderFinding(finding: Finding, number: number, all: boolean): string {
  const { severity, paths, column, found, needed, cure } = finding;
  const shown = all || paths.length <= SHOWN + 1 ? paths : paths.slice(0, SHOWN);
  const rest = paths.length - shown.length;
  const lines = [
    `${number}. ${HEADING[severity]}: ${shown[0] ?? ''}`,
    ...shown.slice(1).map((path) => `   ${path}`),
    ...(rest > 0 ? [`   and ${rest} more (--all lists them)`] : []),
    ...(column ? [`   column  ${column}`] : []),
    `   found   ${found}`,
    `   needed  ${needed}`,
    `   cure    ${cure}`,
  ];
  return lines.join('\n');
}

/** Days, records, files and bytes of a table, in two lines. */
function summaryOf(table: TableFacts): string {
  const { days } = table;
  const files = filesOf(table);
  const [first] = days;
  const last = days.at(-1);
  if (!first || !last) return `  ${table.table.name}: no records`;
  const final = days.filter(({ succeededAt }) => succeededAt !== undefined).length;
  const states =
    final === 0 ? 'none says whether it is final' : `${final} final, ${days.length - final} open`;
  const rows = files.reduce((sum, { footer }) => sum + (footer?.rows ?? 0), 0);
  const rowGroups = files.reduce((sum, { footer }) => sum + (footer?.rowGroupRows.length ?? 0), 0);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return [
    `  ${table.table.name}: ${first === last ? first.day : `${first.day} to ${last.day}`}, ${counted(days.length, 'day')} (${states}),`,
    `    ${counted(rows, 'record')}, ${counted(files.length, 'file')}, ${sizeOf(bytes)}, ${counted(rowGroups, 'row group')}`,
  ].join('\n');
}

const sizeOf = (bytes: number): string =>
  bytes >= 1e9
    ? `${(bytes / 1e9).toFixed(1)} GB`
    : bytes >= 1e6
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : `${Math.ceil(bytes / 1e3)} kB`;
