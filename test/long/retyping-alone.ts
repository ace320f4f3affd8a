/** Does nothing but re-type a file of the given size. Prints by how many bytes the memory of the process grew. */
import { retypeCsv } from '../../lib/csv/retype-csv.ts';

const CHUNK_BYTES = 65_540;
const columns = [{ name: 'Clicks', type: 'integer' }] as const;
const rows = Buffer.from('"1234567"\n'.repeat(CHUNK_BYTES / 10));
const chunk = Buffer.alloc(rows.length);

/** Gives all chunks in the same buffer, so that only the memory of re-typing is measured. */
async function* chunks(bytes: number) {
  for (let made = 0; made < bytes; made += rows.length) {
    chunk.set(rows);
    yield chunk;
  }
}

const idle = process.memoryUsage.rss();
let [peak, taken] = [idle, 0];
for await (const _chunk of retypeCsv(columns, chunks(Number(process.argv[2]))))
  if (taken++ % 16 === 0) peak = Math.max(peak, process.memoryUsage.rss());
process.stdout.write(String(peak - idle));
