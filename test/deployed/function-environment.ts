import type { Operator } from './operator.ts';

/**
 * Changes variables of deployed functions, which no stage setting changes, as the Lambda console would. Resolves to
 * what puts them back.
 */
export async function changeEnvironment(
  { aws }: Operator,
  stage: string,
  functionNames: readonly string[],
  changes: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  if (Object.keys(changes).length === 0) return async () => {};
  const nameOf = (name: string) => ['--function-name', `performance-reports-${stage}-${name}`];
  const set = (name: string, Variables: object) =>
    aws(
      'lambda',
      'update-function-configuration',
      ...nameOf(name),
      '--environment',
      JSON.stringify({ Variables }),
    );
  const before = await Promise.all(
    functionNames.map(async (name) => {
      const answer = await aws('lambda', 'get-function-configuration', ...nameOf(name), '--output', 'json');
      return [name, JSON.parse(answer).Environment.Variables as Record<string, string>] as const;
    }),
  );
  await Promise.all(before.map(([name, variables]) => set(name, { ...variables, ...changes })));
  return async () => {
    await Promise.all(before.map(([name, variables]) => set(name, variables)));
  };
}
