/** Rule: no line of the log holds a ticket, a download link, or a value of a row. */
import { ROW_VALUE } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';

export function checkLine(
  { world, s3 }: Pick<Parts, 'world' | 's3'>,
  message: string,
  facts: Readonly<Record<string, unknown>>,
): void {
  const text = JSON.stringify(facts, (_, value) =>
    value instanceof Error ? [value.name, value.message, value.stack, value.cause] : value,
  );
  const secrets = [ROW_VALUE, 'https://results.example'];
  for (const key of s3.objects.keys())
    if (key.startsWith('waiting/')) secrets.push(key.slice('waiting/'.length, -'.json'.length));
  const secret = secrets.find((each) => text.includes(each));
  if (secret !== undefined) world.violate('secret-in-log', `${message}: ${secret}`);
}
