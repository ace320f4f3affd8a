/**
 * A process that is the publishing function alone, as on Lambda. It publishes the request with the given key, and
 * prints the most bytes of memory that it took beyond what it held after its start.
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
