import { join, resolve } from 'node:path';
import { checkCommand as checkOf, shellWord } from '../../lake-check/commands.ts';
import { type Finding, isHarmless } from '../../lake-check/finding.ts';
import { filesOf, type LakeFacts, type TableFacts } from '../../lake-check/lake-facts.ts';
import { judge, readLake } from '../../lake-check/read-lake.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { counted } from '../../lib/terminal/counted.ts';
import { repeatedProgress, showProgress } from '../../lib/terminal/progress.ts';
import { FLAG, parseOptions, wordsOf } from '../parse-options.ts';
import { type LakeCommand, windowOf } from './lake-command.ts';
import { openWorkspace } from './open-duckdb.ts';
import { isBucket } from './store/bucket.ts';
import { lakeSource } from './store/bucket-lake.ts';

const usage = `npm run lake -- check <folder | s3://bucket/prefix> [--footers] [--all]
  Lists everything that is wrong with a lake, the worst first. Exit 0 where reports will be right.
  --footers  read no records, only what the files' footers tell
  --all      name every file of a finding
`;

type CheckOptions = Readonly<Record<'footers' | 'all', boolean>>;

/** `npm run lake -- check`. The exit code is 1 if reports will be wrong or fail. */
export const checkCommand: LakeCommand = {
  usage,
  async run(args, say) {
    const { values, positionals } = parseOptions(args, { footers: FLAG, all: FLAG });
    const [location] = wordsOf(positionals, usage);
    using told = repeatedProgress(showProgress(process.stderr));
    await using workspace = await openWorkspace();
    const source = lakeSource(location, join(workspace.directory, 'copies'));
    const lake = await readLake(workspace.connection, source, {
      depth: values.footers ? 'footers' : 'records',
      today: utcDay(Date.now()),
      onProgress: told.onProgress,
    });
    const findings = judge(lake);
    say(renderCheck(lake, findings, values));
    return findings.every(isHarmless) ? 0 : 1;
  },
};

const HEADING = { wrong: 'WRONG NUMBERS', fails: 'REPORTS FAIL', warning: 'warning', advice: 'advice' };

const SHOWN = 5;

/** What a check has found, for the operator's terminal. */
function renderCheck(lake: LakeFacts, findings: readonly Finding[], { all, footers }: CheckOptions): string {
  const parts = [
    [lake.location, ...lake.tables.map(summaryOf)].join('\n'),
    ...findings.map((finding, index) => renderFinding(finding, index + 1, all)),
    outcomeOf(lake.location, findings, footers),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The last lines: whether reports can be relied on, and what to do next. */
function outcomeOf(location: string, findings: readonly Finding[], footersOnly: boolean): string {
  const faults = findings.filter((finding) => !isHarmless(finding));
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  const [first, ...others] = faults;
  if (first) {
    const all = `cure them, the first one first, and check again: ${checkOf(location)}`;
    const next = others.length === 0 ? first.cure : all;
    return `Reports will be wrong or fail: ${counted(faults.length, 'fault')}.\nNext: ${next}`;
  }
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
  if (days.length === 0) return `  ${table.table.name}: no records`;
  const final = days.filter(({ succeededAt }) => succeededAt !== undefined).length;
  const states =
    final === 0 ? 'none says whether it is final' : `${final} final, ${days.length - final} open`;
  const rows = files.reduce((sum, { footer }) => sum + (footer?.rows ?? 0), 0);
  const rowGroups = files.reduce((sum, { footer }) => sum + (footer?.rowGroupRows.length ?? 0), 0);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return [
    `  ${table.table.name}: ${windowOf(days)}, ${counted(days.length, 'day')} (${states}),`,
    `    ${counted(rows, 'record')}, ${counted(files.length, 'file')}, ${sizeOf(bytes)}, ${counted(rowGroups, 'row group')}`,
  ].join('\n');
}

function sizeOf(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
