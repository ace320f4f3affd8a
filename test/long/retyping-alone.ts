/** Does nothing but re-type a file of the given size. Prints by how many bytes the memory of the process grew. */
import { retypeCsv } from '../../lib/csv/retype-csv.ts';

const CHUNK_BYTES = 65_536;
const SAMPLED_CHUNKS = 16;
const columns = [
  { name: 'Day', type: 'datetime' },
  { name: 'Clicks', type: 'integer' },
] as const;
const row = '"2026-01-31T00:00:00Z","1234567"\n';
const rows = Buffer.from(row.repeat(Math.ceil(CHUNK_BYTES / row.length)));
const chunk = Buffer.alloc(rows.length);

/** Gives all chunks in the same buffer, so that only the memory of re-typing is measured. */
async function* chunks(bytes: number) {
  for (let made = 0; made < bytes; made += rows.length) {
    chunk.set(rows);
    yield chunk;
  }
}

const idle = process.memoryUsage.rss();
let peak = idle;
let taken = 0;
for await (const _chunk of retypeCsv(columns, chunks(Number(process.argv[2]))))
  if (taken++ % SAMPLED_CHUNKS === 0) peak = Math.max(peak, process.memoryUsage.rss());
process.stdout.write(String(peak - idle));
