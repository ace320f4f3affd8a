import { type Client, cured } from './client.ts';

/** What a client needs to work: nothing, more options in its program, or a rewritten program. */
export type Kind = 'as it comes' | 'an option' | 'rewrite';

/** The difference of two programs, line by line. Each line begins with a blank, `-` or `+`, as in `diff`. */
function diff(before: readonly string[], after: readonly string[]): string[] {
  const common = (i: number, j: number): number => {
    if (i === before.length || j === after.length) return 0;
    return before[i] === after[j] ? 1 + common(i + 1, j + 1) : Math.max(common(i + 1, j), common(i, j + 1));
  };
  const lines: string[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (before[i] === after[j]) {
      lines.push(` ${before[i++]}`);
      j++;
    } else if (i < before.length && common(i + 1, j) === common(i, j)) lines.push(`-${before[i++]}`);
    else lines.push(`+${after[j++]}`);
  }
  return lines;
}

const cureOf = (client: Client): string[] =>
  diff(client.program.trimEnd().split('\n'), cured(client).trimEnd().split('\n'));

/** The lines that a cure changes and, for added lines, the line before them. */
export const changedLines = (client: Client): string[] =>
  cureOf(client).filter((text, index, lines) => text[0] !== ' ' || lines[index + 1]?.[0] === '+');

/** Whether `after` is `before` plus text in one place. The text may replace one word, but not the first word. */
function isExtended(before: string, after: string): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const replaced = before.slice(start, before.length - end);
  return replaced === '' || (/^\w+$/.test(replaced) && before.slice(0, start).trim() !== '');
}

/** The kind of the client's cure. Options extend existing lines, or add one line. Any other cure is a rewrite. */
export function kindOf(client: Client): Kind {
  if (!client.cures) return 'as it comes';
  const [removed = [], added = []] = ['-', '+'].map((sign) =>
    cureOf(client).flatMap((line) => (line[0] === sign ? [line.slice(1)] : [])),
  );
  const isOption =
    removed.length === 0
      ? added.length === 1
      : removed.length === added.length && removed.every((line, i) => isExtended(line, added[i] ?? ''));
  return isOption ? 'an option' : 'rewrite';
}
