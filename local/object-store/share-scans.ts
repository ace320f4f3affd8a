/**
 * Lets those who ask for the same at about the same time share one scan. It begins after all of them have asked, so that
 * each sees what was there before it asked.
 */
export function sharedScans<T>(): (name: string, scan: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<T>>();
  return (name, scan) => {
    const waiting = next.get(name);
    if (waiting) return waiting;
    const mine = Promise.resolve(running.get(name))
      .catch(() => {})
      .then(() => {
        next.delete(name);
        const scanning = scan();
        running.set(name, scanning);
        return scanning;
      });
    next.set(name, mine);
    return mine;
  };
}
