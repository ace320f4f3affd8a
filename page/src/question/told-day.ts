/** How a day's events stand. A day that the service does not list has none. */
export type DayState = 'final' | 'open' | 'unknown' | 'missing';

/** A day that holds events, as the service tells of it. */
export interface ToldDay {
  readonly day: string;
  readonly state: Exclude<DayState, 'missing'>;
  /** Another one as soon as the day's data are others. */
  readonly version: string;
}
