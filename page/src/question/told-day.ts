/** The state of a day. `missing`: the service does not list the day, so it has no events. */
export type DayState = 'final' | 'open' | 'unknown' | 'missing';

/** A day that holds events, as the service tells of it. */
export interface ToldDay {
  readonly day: string;
  readonly state: Exclude<DayState, 'missing'>;
  /** Changes whenever the day's data change. */
  readonly version: string;
}
