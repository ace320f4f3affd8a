/** Rules: no line of the log holds a ticket, a download link, or a value of a row. A query that it names exists. */
import { ROW_VALUE } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';
import { judge } from './judge.ts';

type Facts = Readonly<Record<string, unknown>>;

export function checkLine({ world, s3, athena }: Parts, message: string, facts: Facts): void {
  const { queryExecutionId: id } = facts;
  const text = JSON.stringify(facts, (_, value) =>
    value instanceof Error ? [value.name, value.message, value.stack, value.cause] : value,
  );
  const secrets = [ROW_VALUE, 'https://results.', 'X-Amz-Signature'];
  for (const key of s3.objects.keys())
    if (key.startsWith('waiting/')) secrets.push(key.slice('waiting/'.length, -'.json'.length));
  const secret = secrets.find((each) => text.includes(each));
  const findings = {
    'no-such-query-in-log': id !== undefined && !athena.queries.has(String(id)),
    'secret-in-log': secret !== undefined,
  };
  judge(world, findings, () => `${message}: ${secret ?? id}`);
}
