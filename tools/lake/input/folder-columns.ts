import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { bare, isContractName } from './contract-names.ts';

/** The folder value that Spark, Hive and DuckDB write for records without a value. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** The SQL that reads a file, and DuckDB's type of each of its columns. */
interface Columns {
  readonly reader: string;
  readonly types: ReadonlyMap<string, string>;
}

/** Adds the contract's columns that only the names of the file's folders hold, such as `publisher_company_id=31/`. */
export function withFolderColumns(path: string, { reader, types }: Columns): Columns {
  const present = new Set([...types.keys()].map(bare));
  const found = path
    .split('/')
    .slice(0, -1)
    .flatMap((folder) => {
      const [, column = '', value = ''] = /^([^=]+)=(.*)$/.exec(folder) ?? [];
      return isContractName(column) && !present.has(bare(column)) ? [[column, value] as const] : [];
    });
  if (found.length === 0) return { reader, types };
  const added = found.map(([column, value]) => {
    const text = value === NO_VALUE ? 'NULL' : quoteText(decoded(value));
    return `CAST(${text} AS VARCHAR) AS ${quoteName(column)}`;
  });
  return {
    reader: `(SELECT *, ${added.join(', ')} FROM ${reader})`,
    types: new Map([...types, ...found.map(([column]) => [column, 'VARCHAR'] as const)]),
  };
}

/** Writers percent-encode characters that a folder's name can't contain: `/` becomes `%2F`. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
