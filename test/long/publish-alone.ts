/**
 * A process that is the publishing function and nothing else, as on Lambda: makes the publication whose request has the
 * key that it is given, and prints how many bytes of memory it took at the most, beyond what it held when it had started.
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
