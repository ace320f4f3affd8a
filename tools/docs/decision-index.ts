import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Decision {
  readonly number: number;
  readonly file: string;
  readonly title: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly status: string;
}

const HEAD = /^# (\d+)\. (.+)\n\n\*(\d{4}-\d\d-\d\d) · (.+)\*\n/;

/** Reads the head of a decision record. If the head is malformed, throws an Error that shows the right form. */
export function readDecision(file: string, text: string): Decision {
  const [, number, title = '', date = '', status = ''] = HEAD.exec(text) ?? [];
  if (number === undefined || Number(number) !== Number(file.slice(0, 4)))
    throw new Error(
      `${file} must begin with "# <its number>. <title>", an empty line and "*<YYYY-MM-DD> · holds*"`,
    );
  return { number: Number(number), file, title, date, status };
}

/** The decision records of a folder, by number. */
export const readDecisions = (folder: string): Decision[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.md$/.test(file))
    .sort()
    .map((file) => readDecision(file, readFileSync(join(folder, file), 'utf8')));

/** The decision records as a Markdown table. */
export const decisionIndex = (decisions: readonly Decision[]): string =>
  [
    '| | decision | date | status |',
    '| --- | --- | --- | --- |',
    ...decisions.map(
      ({ number, file, title, date, status }) => `| ${number} | [${title}](${file}) | ${date} | ${status} |`,
    ),
  ].join('\n');
