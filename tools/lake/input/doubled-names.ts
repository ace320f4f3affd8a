import { isContractName } from './contract-names.ts';

/**
 * The contract's columns that a file has twice under the same name, apart from upper and lower case. DuckDB calls the
 * second one `clicks_1`, for example, so the conversion would leave it out without a message.
 *
 * @param names the columns as DuckDB calls them
 * @param written reads the columns' names as the file writes them; called only if DuckDB may have changed a name
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
