/** A goal for a figure that users notice, the measured figure, and whether it meets the goal. */
interface Goal {
  readonly goal: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** What it would take to meet a goal that is missed. */
  readonly wouldTake?: string;
}

/** The findings of one benchmark. */
export interface Section {
  readonly title: string;
  /** What was measured, and what it is compared with. */
  readonly method: string;
  /** The first row names the columns. */
  readonly table: readonly (readonly string[])[];
  readonly goals: readonly Goal[];
  /** Where the time goes, or what the figures do not say. */
  readonly reading?: string;
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const tableOf = ([header = [], ...rows]: readonly (readonly string[])[]): string =>
  [row(header), row(header.map(() => '---')), ...rows.map(row)].join('\n');

const verdict = ({ isMet, wouldTake }: Goal): string =>
  isMet ? 'met' : `**missed**${wouldTake ? `: ${wouldTake}` : ''}`;

/** A section in Markdown, under a heading of the second level. Its goals stand in the summary. */
export const renderSection = ({ title, method, table, reading }: Section): string =>
  [`## ${title}`, method, tableOf(table), reading].filter((part) => part).join('\n\n');

/** A table in Markdown with one row for each goal of the sections. */
export const renderSummary = (sections: readonly Section[]): string =>
  tableOf([
    ['what', 'goal', 'measured', ''],
    ...sections.flatMap(({ title, goals }) =>
      goals.map((goal) => [title, goal.goal, goal.measured, verdict(goal)]),
    ),
  ]);
