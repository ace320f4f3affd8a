import { type ParseArgsConfig, parseArgs } from 'node:util';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';

/** An option without a value, and one with a text. */
export const FLAG = { type: 'boolean', default: false } as const;
export const TEXT = { type: 'string' } as const;

/**
 * Reads a command line as parseArgs does, but refuses an option that is given twice: parseArgs takes the last one. An
 * option with `multiple` may be repeated.
 */
export function parseOptions<const T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  const config = { args: [...args], options, allowPositionals: true } as const;
  const { tokens } = parseArgs({ ...config, tokens: true } as ParseArgsConfig & { readonly tokens: true });
  const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const twice = names.find((name, at) => names.indexOf(name) !== at && !options[name]?.multiple);
  if (twice !== undefined) throw new OperatorFault(`--${twice} is given twice. Give it once.`);
  return parseArgs(config);
}

/**
 * The words of a command line that are no options. Throws an OperatorFault with the usage if there is none, or more than
 * `most`.
 */
export function wordsOf(words: readonly string[], usage: string, most = 1) {
  const [first, second] = words;
  if (!first || words.length > most) throw new OperatorFault(usage);
  return [first, second] as const;
}
