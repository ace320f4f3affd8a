const LINE_EVERY_MS = 5_000;

/** Says on stderr how far long work has come: in place on a terminal, now and then a line elsewhere. */
export function showProgress(): (what: string, done: number, total: number) => void {
  let saidAt = Date.now();
  return (what, done, total) => {
    if (total === 0) return;
    const line = `${what}: ${Math.floor((100 * done) / total)}%`;
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\u001b[K${line}${done === total ? '\r\u001b[K' : ''}`);
      return;
    }
    if (Date.now() - saidAt < LINE_EVERY_MS) return;
    saidAt = Date.now();
    process.stderr.write(`${line}\n`);
  };
}
