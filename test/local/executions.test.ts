import { expect, it } from 'vitest';
import { createExecutions } from '../../local/athena/executions.ts';
import type { Query } from '../../local/athena/query-engine.ts';

it('the store of executions keeps the last thousand ended executions, and every running one', async () => {
  const slow = Promise.withResolvers<never>();
  const run = ({ sql }: Query) => (sql === 'slow' ? slow.promise : Promise.reject(new Error('over')));
  const executions = createExecutions(
    {
      engine: { maxRunning: 2, run },
      database: 'reports',
      results: { putFile: () => {} },
      resultsUri: 's3://results/athena/',
    },
    Number.POSITIVE_INFINITY,
    () => 0,
  );
  const start = (token: string, sql = 'ends') =>
    executions.start({ token, sql, parameters: [], database: 'reports', catalog: 'c', workgroup: 'w' });
  const isRemembered = (id: string) => executions.latest(2_000).some((each) => each.id === id);
  const running = start('running', 'slow');
  const ended = Array.from({ length: 1_002 }, (_, index) => start(`token-${index}`));
  await expect.poll(() => ended.at(-1)?.ended?.state).toBe('FAILED');

  expect(executions.find(running.id)).toBe(running);
  expect(() => executions.find(ended[0]?.id ?? '')).toThrow('was not found');
  expect(start('running', 'slow')).toBe(running);
  expect(ended.map(({ id }) => isRemembered(id))).toEqual(ended.map((_, index) => index >= 2));
  expect(start('token-0').id).not.toBe(ended[0]?.id);
  expect(executions.latest(2_000)).toHaveLength(1_002);

  // `running` was started first, and ends last.
  slow.reject(new Error('over'));
  await expect.poll(() => running.ended?.state).toBe('FAILED');
  expect(executions.find(running.id)).toBe(running);
});
