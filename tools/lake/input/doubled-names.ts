import { isContractName } from './contract-names.ts';

/**
 * Throws if a file has a column of the contract twice under one name, apart from upper and lower case: the conversion
 * would leave one of them out without a message.
 *
 * @param names the columns' names as the file writes them
 */
export function refuseDoubledNames(names: readonly string[]): void {
  const alike = Map.groupBy(names.filter(isContractName), (name) => name.toLowerCase());
  for (const same of alike.values())
    if (same.length > 1)
      throw new Error(`its columns ${same.join(' and ')} have one name. Leave one out, or name it otherwise`);
}

/** Whether DuckDB may have renamed a column of a CSV file. It calls the second column `clicks_1`, for example. */
export const mayBeRenamed = (names: readonly string[]): boolean =>
  names.some((name) => isContractName(name.replace(/_\d+$/, '')) && !isContractName(name));
