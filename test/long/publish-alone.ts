/**
 * Runs the publishing function alone in a process, as on Lambda, for the publication with the given key. Prints by how
 * many bytes the memory of the process grew at most, and how many milliseconds of CPU it took.
 */
const { handler } = await import('../../functions/publish.ts');
const idle = process.memoryUsage.rss();
let peak = idle;
const before = process.cpuUsage();
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 10);
await handler(
  { detail: { object: { key: process.argv[2] ?? '' } } },
  { getRemainingTimeInMillis: () => 900_000 },
);
clearInterval(watch);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`\n${JSON.stringify({ memory: peak - idle, cpuMs: (user + system) / 1_000 })}\n`);
