import { type ParseArgsConfig, parseArgs } from 'node:util';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';

// Each command is a file that runs if it is the one that was started, which an older Node.js can't tell: it would do
// nothing, without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 4)) {
  process.stderr.write(`This takes Node.js 24.4 or later, and here is ${process.versions.node}.\n`);
  process.exit(1);
}

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
