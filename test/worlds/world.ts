import type { Plan } from './plan.ts';
import type { Troubles } from './troubles.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The moment at which every world begins. */
export const BEGINNING = Date.UTC(2026, 1, 2, 6);

/** One case in which a rule was broken. */
export interface Violation {
  /** A short and stable name, by which violations are counted. */
  readonly kind: string;
  readonly text: string;
}

/** The state that all parts of a world share. */
export interface World {
  readonly seed: number;
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly troubles: Troubles;
  /** Counts what happened, for the tally of a run. */
  readonly count: (what: string) => void;
  /** Writes a line of the history. Undefined if nobody reads the history. */
  readonly tell: ((who: string, what: string) => void) | undefined;
  readonly violate: (kind: string, text: string) => void;
  readonly violations: Violation[];
  /**
   * When the operator last deployed the service: at the end of all faults. Undefined before. From then on, all machines
   * are new, run the present release and have the scan limit of `raisesLimit`.
   */
  deployedAt?: number;
}
