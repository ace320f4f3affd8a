import {
  companyColumn,
  countColumns,
  levelColumns,
  measureColumns,
} from '../../lake-check/report-columns.ts';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import { tableOf } from '../../lib/report/tables.ts';

const BEGIN = '<!-- Made of the field catalogue by `npm run data-contract`; edits here are lost. -->';
const END = '<!-- The end of what is made of the catalogue. -->';

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
  return [`### ${name}`, '', '| column | type | meaning | |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

/** The tables of the data contract in Markdown, between the marks of `docs/data-contract.md`. */
const contractTables = (): string => [BEGIN, ...reports.map(tableText), END].join('\n\n');

/** Replaces the page's tables by those of the catalogue. Throws an Error if the page has lost its marks. */
export function withContractTables(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error('docs/data-contract.md has lost its marks');
  return before + contractTables() + after;
}
