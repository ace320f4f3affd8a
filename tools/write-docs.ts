/** `npm run docs`: writes what is made of the code and of other documents in the documents, docs/openapi.json too. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { companyColumn, countColumns, levelColumns, measureColumns } from '../lake-check/report-columns.ts';
import { openApiDocument } from '../lib/openapi/document.ts';
import { knownProblems } from '../lib/problems/problem.ts';
import { type Report, reports } from '../lib/report/catalogue.ts';
import { tableOf } from '../lib/report/tables.ts';
import { SCOPE } from '../local/stack.ts';

/** A document that is made, or has a made part. */
export interface MadePage {
  readonly page: string;
  /** Returns the page's text with that part made again. */
  make(text: string): string;
}

/** Every such document, in the repository at `root`. */
export const madeParts = (root: string): readonly MadePage[] => [
  {
    page: 'docs/decisions/README.md',
    make: (text) => withMadePart(text, 'The records', decisionIndex(join(root, 'docs/decisions'))),
  },
  { page: 'docs/problems.md', make: (text) => withMadePart(text, 'The problems', problemTable()) },
  {
    page: 'docs/data-contract.md',
    make: (text) => withMadePart(text, 'The tables', reports.map(tableText).join('\n\n')),
  },
  { page: 'docs/openapi.json', make: () => `${JSON.stringify(servedDocument(), null, 2)}\n` },
];

const begin = (what: string) => `<!-- ${what}, made by \`npm run docs\`; edits here are lost. -->`;
const END = '<!-- The end of what is made. -->';

/** Replaces the made part between a page's marks. Throws an Error if the page has no such marks. */
export function withMadePart(page: string, what: string, made: string): string {
  const [before, rest] = page.split(begin(what));
  const after = rest?.slice(rest.indexOf(END));
  if (before === undefined || !after?.startsWith(END)) throw new Error(`a page has lost its marks: ${what}`);
  return `${before}${begin(what)}\n\n${made}\n\n${after}`;
}

/** The OpenAPI document as `npm start` serves it, without its token endpoint, which has another port at each start. */
const servedDocument = () => openApiDocument('http://127.0.0.1:8080', SCOPE, { longestQueryMs: 600_000 });

/** The role of a column, and the values that it may have. */
function roleOf(name: string, report: Report): string {
  const levels = levelColumns(report);
  if (levels?.coarserCount === name) return `count, 0 and more; 0 where \`${levels.finer}\` is set`;
  if (levels?.finerCount === name) return `count, 0 and more; 0 where \`${levels.finer}\` is NULL`;
  if (countColumns(report).includes(name)) return 'count, 0 and more';
  if (measureColumns(report).includes(name)) return 'amount, may be below 0';
  if (levels?.finer === name) return `NULL on records that count in \`${levels.coarserCount}\`, see below`;
  return name === companyColumn(report)
    ? 'may be NULL; whose rows a caller sees is decided by it'
    : 'may be NULL';
}

function tableText(report: Report): string {
  const { name, columns } = tableOf(report);
  const rows = columns.map(
    ({ name: column, type, meaning }, index) =>
      `| \`${column}\` | ${type} | ${meaning} | ${index === 0 ? 'in every record, to the millisecond' : roleOf(column, report)} |`,
  );
  return `### ${name}\n\n| column | type | meaning | |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
}

/** Every problem with its statuses and title as a Markdown table, by status. */
function problemTable(): string {
  const byName = Map.groupBy(knownProblems(''), ({ name }) => name);
  const rows = [...byName].map(([name, problems]) => ({
    name,
    statuses: [...new Set(problems.map(({ status }) => status))].sort(),
    title: problems[0]?.document.title,
  }));
  rows.sort((a, b) => Number(a.statuses[0]) - Number(b.statuses[0]) || a.name.localeCompare(b.name));
  return [
    '| status | type | title |',
    '| --- | --- | --- |',
    ...rows.map(({ name, statuses, title }) => `| ${statuses.join(', ')} | [${name}](#${name}) | ${title} |`),
  ].join('\n');
}

const HEAD = /^# (\d+)\. (.+)\n\n\*(\d{4}-\d\d-\d\d) · (.+)\*\n/;

/** Reads the head of a decision record. If the head is malformed, throws an Error that shows the right form. */
export function readDecision(file: string, text: string) {
  const [, number, title = '', date = '', status = ''] = HEAD.exec(text) ?? [];
  if (number === undefined || Number(number) !== Number(file.slice(0, 4)))
    throw new Error(
      `${file} must begin with "# <its number>. <title>", an empty line and "*<YYYY-MM-DD> · holds*"`,
    );
  return { number: Number(number), file, title, date, status };
}

/** The decision records of a folder, in the order of their numbers. */
export const readDecisions = (folder: string) =>
  readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.md$/.test(file))
    .sort()
    .map((file) => readDecision(file, readFileSync(join(folder, file), 'utf8')));

/** The decision records of a folder as a Markdown table. */
function decisionIndex(folder: string): string {
  const rows = readDecisions(folder).map(
    ({ number, file, title, date, status }) => `| ${number} | [${title}](${file}) | ${date} | ${status} |`,
  );
  return ['| | decision | date | status |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

if (import.meta.main)
  for (const { page, make } of madeParts(join(import.meta.dirname, '..'))) {
    const file = join(import.meta.dirname, '..', page);
    writeFileSync(file, make(readFileSync(file, 'utf8')));
  }
