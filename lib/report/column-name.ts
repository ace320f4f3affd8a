/**
 * A field's `column` is the name of one column. Reports, hourly lakes and the page add metrics up, so an expression
 * such as `clicks / served_ads` would give a wrong number in each of them (CONTRIBUTING.md, "Metrics are sums").
 */

/** For a developer who adds a field. TypeScript cuts the text of a type at 160 characters. */
export const NOT_A_COLUMN =
  'A column is a name such as served_ads, no SQL: a metric is the sum of one. Leave ratios (CTR) to clients and the page, or add a column.';

/** The text if it can be a column's name; else NOT_A_COLUMN, so that the compiler says why it refuses it. */
export type ColumnName<Text extends string> = Unfit<Text> extends '' ? Text : typeof NOT_A_COLUMN;

/** The rest of a text, from the first character that a name can't contain. */
type Unfit<Text extends string> = Text extends `${NameCharacter}${infer Rest}` ? Unfit<Rest> : Text;

type NameCharacter = CharacterOf<'abcdefghijklmnopqrstuvwxyz0123456789_'>;

type CharacterOf<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First | CharacterOf<Rest>
  : never;

/**
 * Names that have a special meaning for an engine: Athena's "Reserved keywords in SQL SELECT statements", and DuckDB's
 * name for a record's file. DuckDB accepts many of these names as columns: `current_user`, for example, is a column in
 * DuckDB and a function in Athena.
 */
const ENGINE_WORDS = new Set(
  (
    'filename ' +
    'alter and as between by case cast constraint create cross cube current_catalog current_date current_path ' +
    'current_role current_schema current_time current_timestamp current_user deallocate delete describe distinct drop ' +
    'else end escape except execute exists extract false first for from full group grouping having in inner insert ' +
    'intersect into is join json_array json_exists json_object json_query json_table json_value last left like ' +
    'listagg localtime localtimestamp natural normalize not null on or order outer overflow prepare recursive right ' +
    'rollup select skip table then trim true uescape union unnest using values when where with'
  ).split(' '),
);

/** The first fault in the column names of one table; undefined if every name is valid and unique. */
export function columnFault(table: string, columns: readonly string[]): string | undefined {
  for (const [index, column] of columns.entries()) {
    const where = `lib/report/catalogue.ts, ${table}, column "${column}": `;
    if (!/^[a-z][a-z0-9_]*$/.test(column)) return where + NOT_A_COLUMN;
    if (ENGINE_WORDS.has(column))
      return `${where}Athena or DuckDB read this name as something else. Choose another one.`;
    if (columns.indexOf(column) !== index)
      return `${where}it is there twice. Each field has a column of its own; one for the same number is there already.`;
  }
  return undefined;
}
