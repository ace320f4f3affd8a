/**
 * Runs the publishing function alone in a process, as on Lambda, for the publication with the given key. Prints by how
 * many bytes the memory of the process grew at most.
 */
const { handler } = await import('../../functions/publish.ts');
const idle = process.memoryUsage.rss();
let peak = idle;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 10);
await handler(
  { detail: { object: { key: process.argv[2] ?? '' } } },
  { getRemainingTimeInMillis: () => 900_000 },
);
clearInterval(watch);
process.stdout.write(`\n${peak - idle}\n`);
