/**
 * Everything that goes wrong in a world, by name: faults of calls, failing queries, late events. Each can be taken out of
 * the world when it is run again, and the rest stays as it was.
 */
export interface Troubles {
  /** Whether this trouble may happen now. It is counted if so. */
  happens(kind: string, id: string): boolean;
  /** The ids of those that happened, in order. */
  readonly happened: readonly string[];
}

export function troubles(
  without: ReadonlySet<string>,
  isOver: () => boolean,
  count: (kind: string) => void,
): Troubles {
  const happened: string[] = [];
  return {
    happened,
    happens(kind, id) {
      const name = `${kind} ${id}`;
      if (isOver() || without.has(name)) return false;
      happened.push(name);
      count(kind);
      return true;
    },
  };
}
