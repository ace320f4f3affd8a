import type { Operator } from './operator.ts';

/**
 * Changes environment variables of deployed functions, as the Lambda console would: no stage setting has them.
 * Resolves to a function that puts the old values back.
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
