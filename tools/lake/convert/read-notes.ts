import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '../../../lib/report/quote-sql.ts';
import { TIME_COLUMN } from '../../../lib/report/tables.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { FILE, type InputPlan } from '../input/plan-input.ts';
import type { TimeKind, TimesOfKind } from '../values/exact-instant.ts';
import type { ValueChange } from '../values/exact-value.ts';

/** Extra columns of the staged files: what there is to say of the record, and how its time was read. */
const [NOTES, KIND] = ['the notes', 'the kind of time'];

/** The extra columns of the staged files, in SQL. They are no columns of the contract. */
export function noteColumns({ checks, times }: InputPlan): string {
  const noted = checks.map(({ isNoted, shown, added = 'CAST(NULL AS BIGINT)', notes }, nth) => {
    const cases = notes.map(([when], note) => `WHEN ${when} THEN ${note}`).join(' ');
    return `{nth: ${nth}, note: CASE WHEN ${isNoted} THEN CASE ${cases} END END, shown: CAST(${shown} AS VARCHAR), added: ${added}}`;
  });
  const isAny = checks.map(({ isNoted }) => `(${isNoted})`).join(' OR ');
  return `CASE WHEN ${isAny} THEN [${noted.join(', ')}] END AS ${quoteName(NOTES)}, ${times.kind} AS ${quoteName(KIND)}, ${quoteName(FILE)}`;
}

type FileChange = ValueChange & { readonly column: string };

/**
 * Reads the notes of a table's staged files: why values are lost, and how they were changed.
 *
 * @param source SQL that reads the files
 */
export async function readNotes(connection: DuckDBConnection, source: string, plans: readonly InputPlan[]) {
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS() as unknown[][];
  const noted = await rows(
    `SELECT path, one.nth, one.note, count(*), min(nullif(one.shown, '')), sum(one.added)::VARCHAR, max(abs(one.added))::VARCHAR
     FROM (SELECT ${quoteName(FILE)} AS path, unnest(${quoteName(NOTES)}) AS one FROM ${source} WHERE ${quoteName(NOTES)} IS NOT NULL)
     WHERE one.note IS NOT NULL GROUP BY ALL ORDER BY ALL`,
  );
  const timed = await rows(
    `SELECT ${quoteName(FILE)}, ${quoteName(KIND)}, count(*), min(${TIME_COLUMN})::VARCHAR, max(${TIME_COLUMN})::VARCHAR
     FROM ${source} WHERE ${quoteName(KIND)} IS NOT NULL GROUP BY ALL`,
  );
  const [notesOf, timesOf] = [noted, timed].map((all) => Map.groupBy(all, ([path]) => path));
  const losses: string[] = [];
  const changes: FileChange[] = [];
  for (const { checks, times, files } of plans)
    for (const { name, path } of files) {
      for (const [, check, note, count, shown, added, most] of notesOf?.get(path) ?? []) {
        const { column, notes } = checks[Number(check)] ?? { column: '', notes: [] };
        const says = notes[Number(note)]?.[1] ?? '';
        if (typeof says === 'object')
          changes.push({
            ...{ column, says, count: Number(count) },
            ...(most != null && { added: BigInt(String(added)), most: BigInt(String(most)) }),
          });
        else losses.push(`${name}: ${column}: ${lossOf(Number(count), String(shown ?? ''), says)}`);
      }
      const kinds = new Map<TimeKind, TimesOfKind>();
      for (const [, kind, count, first, last] of timesOf?.get(path) ?? [])
        kinds.set(kind as TimeKind, { count: Number(count), range: [String(first), String(last)] });
      const verdict = times.judge(kinds);
      if (typeof verdict === 'string') losses.push(`${name}: ${times.column}: ${verdict}`);
      else changes.push(...verdict.map((change) => ({ ...change, column: times.column })));
    }
  return { losses, changes };
}

function lossOf(count: number, shown: string, loss: string | ((example: string) => string)): string {
  const example = shown.slice(0, 100);
  const value = example ? JSON.stringify(example) + (count > 1 ? ' for example' : '') : 'it';
  return `in ${counted(count, 'record')}, ${value} ${typeof loss === 'string' ? loss : loss(example)}`;
}

/** Describes the changes in all files, with one line for each column and kind of change. */
export const tellChanges = (changes: readonly FileChange[]): string[] =>
  [...Map.groupBy(changes, ({ column, says }) => JSON.stringify([column, says])).values()].map(tell);

function tell(alike: readonly FileChange[]): string {
  const { column, says } = alike[0] as FileChange;
  const [thing, which, done] = says;
  const count = alike.reduce((sum, change) => sum + change.count, 0);
  const files = alike.length > 1 ? ` (in ${counted(alike.length, 'file')})` : '';
  const times = alike.flatMap(({ range }) => range ?? []).sort();
  const [first, last] = [times[0], times.at(-1)];
  const span = first === undefined ? '' : first === last ? `: ${first}` : `: ${first} to ${last}`;
  const most = alike.reduce((max, change) => ((change.most ?? 0n) > max ? (change.most ?? 0n) : max), 0n);
  const added = alike.reduce((sum, change) => sum + (change.added ?? 0n), 0n);
  const each = count === 1 ? 'by' : 'each by at most';
  const by = most > 0n ? `, ${each} ${decimal(most)}; that adds ${decimal(added)} to the sum` : '';
  return `${column}: ${counted(count, thing)}${which} ${count === 1 ? 'was' : 'were'} ${done}${files}${by}${span}`;
}

const PLACES = 24;

/** Writes a number in units of 10⁻²⁴ as a decimal, such as `-0.0000004`. */
function decimal(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(PLACES + 1, '0');
  const text = `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, '');
  return scaled < 0n ? `-${text}` : text;
}
