import { permissionParts, SITUATIONS, unprovenParts } from './permission-parts.ts';

/** A Markdown table of the actions and folders of policy statements, and of what fails if one of them is missing. */
export function permissionPartTable(): string {
  const together = Map.groupBy(permissionParts, ({ sid, functions, situation }) =>
    [`\`${sid}\``, functions.join(', '), SITUATIONS[situation]].join(' | '),
  );
  const rows = [...together].map(
    ([row, parts]) => `| ${row} | ${parts.map(({ part }) => `\`${part}\``).join(', ')} |`,
  );
  for (const { sid, functions, reason, parts } of unprovenParts)
    rows.push(
      `| \`${sid}\` | ${functions.join(', ')} | ${reason} | ${parts.map((part) => `\`${part}\``).join(', ')} |`,
    );
  return ['| statement | who | what fails | without each of |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}
