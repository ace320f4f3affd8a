import { knownProblems } from '../../lib/problems/problem-response.ts';

/** Every problem with its statuses and title as a Markdown table, by status. */
export function problemTable(): string {
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
