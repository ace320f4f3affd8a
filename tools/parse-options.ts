import { type ParseArgsConfig, parseArgs } from 'node:util';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';

/**
 * Reads a command line as parseArgs does, but refuses an option that is given twice: parseArgs takes the last one. An
 * option with `multiple` may be repeated.
 */
export function parseOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const { tokens } = parseArgs({ ...config, tokens: true } as ParseArgsConfig & { readonly tokens: true });
  const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const twice = names.find((name, at) => names.indexOf(name) !== at && !config.options?.[name]?.multiple);
  if (twice !== undefined) throw new OperatorFault(`--${twice} is given twice. Give it once.`);
  return parseArgs(config);
}
