import { Failure, shown } from './answer.ts';

/**
 * What a query may use. DuckDB itself parses the statement, and each node of its tree must be in these lists. So what
 * reads files, settings or secrets, runs other SQL, writes or waits is refused before DuckDB looks up anything.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const SOURCES = words('BASE_TABLE EMPTY EXPRESSION_LIST JOIN PIVOT SUBQUERY TABLE_FUNCTION');
const TABLE_FUNCTIONS = words('generate_series range unnest');
const EXPRESSIONS = words(`
  BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR POSITIONAL_REFERENCE
  STAR SUBQUERY WINDOW`);
const FUNCTIONS = words(`
  + - * / // % ** ^ @ || !~~ !~~* ~~ ~~* ~~~ ^@ abs any_value arg_max arg_min array_agg avg
  bool_and bool_or ceil ceiling coalesce concat concat_ws contains corr count count_if count_star countif covar_pop
  covar_samp cume_dist date_add date_diff date_part date_sub date_trunc datediff datepart datetrunc day dayname
  dayofmonth dayofweek dayofyear dense_rank ends_with epoch even exp first first_value floor fmod format
  generate_series greatest hour ilike_escape instr isfinite isinf isnan isodow isoyear lag last last_day last_value
  lcase lead least left len length like_escape list list_contains list_filter list_sort list_sum list_transform
  list_value ln log log10 log2 lower lpad ltrim mad make_date make_timestamp max max_by mean median min min_by minute
  mod mode month monthname not_ilike_escape not_like_escape nth_value ntile nullif percent_rank position pow power
  prefix quantile quantile_cont quantile_disc quarter range rank rank_dense regexp_extract regexp_full_match
  regexp_matches regexp_replace regr_intercept regr_r2 regr_slope replace reverse right round round_even row_number
  rpad rtrim second sign split_part sqrt starts_with stddev stddev_pop stddev_samp strftime string_agg strlen strpos
  strptime struct_extract struct_pack substr substring suffix sum time_bucket to_days to_hours to_minutes
  to_months to_quarters to_seconds to_weeks to_years timezone trim trunc try_strptime typeof ucase unnest upper var_pop var_samp variance week weekday weekofyear year
  yearweek`);

/** A node of the tree that `json_serialize_sql` gives. */
type Node = Readonly<Record<string, unknown>>;

const refuse = (fault: string): never => {
  throw new Failure(`${fault}. A query is one SELECT over tables that report has made, and nothing else.`);
};

/** Throws a Failure unless the statement is one SELECT that reads nothing but `tables`. */
export function checkSql(serialized: string, tables: readonly string[]): void {
  const tree = JSON.parse(serialized) as { error_message?: string; statements?: readonly Node[] };
  const isOther = tree.error_message?.startsWith('Only SELECT');
  if (!tree.statements)
    refuse(isOther ? 'This is no SELECT' : `DuckDB can't read it: ${shown(tree.error_message)}`);
  if (tree.statements?.length !== 1) refuse(`These are ${tree.statements?.length} statements`);
  const nodes: Node[] = [];
  const open: unknown[] = [tree.statements];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!(next instanceof Object)) continue;
    nodes.push(next as Node);
    open.push(...Object.values(next).filter((child) => child instanceof Object));
  }
  // A common table expression is an entry { key, value } of a map.
  const named = nodes.flatMap(({ key, value }) => (typeof key === 'string' && value ? [key] : []));
  const names = new Set([...tables, ...named].map((name) => name.toLowerCase()));
  for (const node of nodes) {
    const { class: expression = 'STAR', function_name: name = '+', schema, catalog, sample } = node;
    if (!EXPRESSIONS.has(String(expression))) refuse(`${shown(expression)} is not allowed`);
    const isBuiltIn = !catalog && (!schema || schema === 'main');
    if (!isBuiltIn || !FUNCTIONS.has(String(name).toLowerCase()))
      refuse(`There is no function ${shown(name)} here`);
    if (sample) refuse('SAMPLE gives other numbers each time');
    if ('sample' in node && 'alias' in node) checkSource(node, names);
  }
}

/** Checks a node of FROM. */
function checkSource({ type, function: called, ...node }: Node, names: ReadonlySet<string>): void {
  if (!SOURCES.has(String(type))) refuse(`${shown(type)} is not allowed in FROM`);
  const name = String(((called as Node) ?? node)[called ? 'function_name' : 'table_name']);
  if (called && !TABLE_FUNCTIONS.has(name.toLowerCase())) refuse(`${shown(name)} is not allowed in FROM`);
  if (type !== 'BASE_TABLE') return;
  const isElsewhere = node['schema_name'] || node['catalog_name'] || node['at_clause'];
  if (isElsewhere || !names.has(name.toLowerCase())) refuse(`There is no table ${shown(name)} here`);
}
