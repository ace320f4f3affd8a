/**
 * Everything that goes wrong in a world, by name: faults of calls, failing queries, late events. Another run of the
 * world can leave out any of these troubles.
 */
export interface Troubles {
  /** Whether this trouble happens now. If it does, it is counted. */
  happens(kind: string, id: string): boolean;
  /** The names of the troubles that happened, in order. */
  readonly happened: readonly string[];
}

/** Whether a write of a caller's requests had a fault: then what they know may be in no ticket and in no record. */
export const hasFailedWrite = ({ happened }: Troubles, callerId: string | undefined): boolean =>
  happened.some((each) => each.includes(` ${callerId}.`) && each.endsWith('PutObject'));

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
