import type { Plan } from './plan.ts';
import type { Troubles } from './troubles.ts';
import type { VirtualTime } from './virtual-time.ts';

/** When every world begins. */
export const BEGINNING = Date.UTC(2026, 1, 2, 6);

/** What broke a rule. */
export interface Violation {
  /** Short and stable: by it violations are counted. */
  readonly kind: string;
  readonly text: string;
  readonly at: number;
}

/** What every part of a world shares. */
export interface World {
  readonly seed: number;
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly troubles: Troubles;
  /** Counts what happened, for the tally of a run. */
  readonly count: (what: string) => void;
  /** Writes a line of the history; undefined where nobody reads it. */
  readonly tell: ((who: string, what: string) => void) | undefined;
  readonly violate: (kind: string, text: string) => void;
  readonly violations: Violation[];
}
