import { bare } from '../../../lake-check/rules/column-rules.ts';
import { quoteText } from '../../../lib/report/quote-sql.ts';
import { tables } from '../../../lib/report/tables.ts';

/** A column of a file to convert. */
export interface SourceColumn {
  readonly name: string;
  /** The name of its type in the table of types. Every column of a CSV file is text. */
  readonly type: string;
  /** SQL for its values. */
  readonly sql: string;
}

/** What a file holds, by its own description. */
export interface FileContent {
  /** DuckDB's table function that reads the file, and its options. */
  readonly read: { readonly call: 'read_parquet' | 'read_csv'; readonly options: string };
  readonly columns: readonly SourceColumn[];
  readonly rows: number;
}

const CONTRACT = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => bare(name))));

/** Whether a column of the contract has this name. */
export const isContractName = (name: string): boolean => CONTRACT.has(bare(name));

/**
 * Throws if a file has a column of the contract twice under one name, apart from upper and lower case: the conversion
 * would leave one of them out without a message.
 */
export function refuseDoubledNames(names: readonly string[]): void {
  const alike = Map.groupBy(names.filter(isContractName), (name) => name.toLowerCase());
  for (const same of alike.values())
    if (same.length > 1)
      throw new Error(`its columns ${same.join(' and ')} have one name. Leave one out, or name it otherwise`);
}

/** The folder value that Spark, Hive and DuckDB write for records without a value. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** The contract's columns that only the names of a file's folders hold, such as `publisher_company_id=31/`. */
export function folderColumns(path: string, names: readonly string[]): SourceColumn[] {
  const present = new Set(names.map(bare));
  return path
    .split('/')
    .slice(0, -1)
    .flatMap((folder) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(folder) ?? [];
      if (!isContractName(name) || present.has(bare(name))) return [];
      const text = value === NO_VALUE ? 'NULL' : quoteText(decoded(value));
      return [{ name, type: 'VARCHAR', sql: `CAST(${text} AS VARCHAR)` }];
    });
}

/** Writers percent-encode characters that a folder's name can't contain: `/` becomes `%2F`. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
