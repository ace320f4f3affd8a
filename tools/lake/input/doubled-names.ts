import { isContractName } from './contract-names.ts';

/**
 * The contract's columns that a file has twice under one name; case does not count. DuckDB calls the second `clicks_1`,
 * and it would be left out without a word.
 *
 * @param names the columns as DuckDB calls them
 * @param written reads their names as the file has them; asked only where DuckDB may have changed one
 */
export async function doubledNames(
  names: readonly string[],
  written: () => Promise<readonly string[]>,
): Promise<string[]> {
  const mayBeChanged = names.some(
    (name) => isContractName(name.replace(/_\d+$/, '')) && !isContractName(name),
  );
  if (!mayBeChanged) return [];
  const alike = Map.groupBy((await written()).filter(isContractName), (name) => name.toLowerCase());
  return [...alike.values()].flatMap((same) => (same.length > 1 ? [same.join(' and ')] : []));
}
