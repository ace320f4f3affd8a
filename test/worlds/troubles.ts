const fault = (share: number, takesEffect: boolean, isFailure = false) => ({ share, takesEffect, isFailure });

/**
 * The faults of calls. `share`: how often each occurs, relative to the others. `takesEffect`: whether AWS does what was
 * asked. `isFailure`: whether the function gets an error.
 */
export const FAULTS = {
  throttled: fault(4, false, true),
  fails: fault(2, false, true),
  'connection breaks before': fault(1, false, true),
  'answer lost': fault(4, true, true),
  slow: fault(3, true),
  'never answered': fault(1, false),
  'never answered, but done': fault(1, true),
  'dies before a call': fault(1, false),
  'dies after a call': fault(1, true),
} as const;

export type FaultKind = keyof typeof FAULTS;
export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

/** Troubles that happen to one call, query or event at a time. Another run of the world can leave out any of them. */
export const HAPPENING = [
  ...FAULT_KINDS,
  'reading breaks',
  'conditional writes meet',
  'query fails',
  'query hangs',
  'query goes back to the queue',
  'query is forgotten',
  'token is of another query',
  'result is no CSV of the engine',
  'result lies elsewhere',
  'result appears late',
  'result is removed',
  'event comes late',
  'event comes twice',
] as const;
type Happening = (typeof HAPPENING)[number];

/** Troubles that a plan has, so that a world has them from its beginning. */
type Planned =
  | 'release before'
  | 'outage'
  | 'outage of S3'
  | 'wrong clock'
  | 'clock is set'
  | 'unlisted lake'
  | 'kept listings';

export type Trouble = Planned | Happening;

/** Troubles of calls, by which requests lose time, or what they know. */
export const TROUBLES_OF_CALLS = [
  ...FAULT_KINDS,
  'reading breaks',
  'conditional writes meet',
  'outage',
] as const satisfies readonly Trouble[];

export interface Troubles {
  /** Whether this trouble happens now. If it does, it is counted. */
  happens(kind: Happening, id: string): boolean;
  /** The names of the troubles that happened, in order. */
  readonly happened: readonly string[];
  /** The kinds of trouble that the plan has, or that happened. */
  readonly kinds: ReadonlySet<Trouble>;
}

/** Whether a write of a caller's requests had a fault: then what they know may be in no ticket and in no record. */
export const hasFailedWrite = ({ happened }: Troubles, callerId: string | undefined): boolean =>
  happened.some((each) => each.includes(` ${callerId}.`) && each.endsWith('PutObject'));

export function troubles(
  planned: readonly Trouble[],
  without: ReadonlySet<string>,
  isOver: () => boolean,
  count: (kind: string) => void,
): Troubles {
  const kinds = new Set(planned);
  const happened: string[] = [];
  return {
    happened,
    kinds,
    happens(kind, id) {
      const name = `${kind} ${id}`;
      if (isOver() || without.has(name)) return false;
      happened.push(name);
      kinds.add(kind);
      count(kind);
      return true;
    },
  };
}
