/** The state of a day. `missing` means that the service does not list the day, so the day has no events. */
export type DayState = 'final' | 'open' | 'unknown' | 'missing';

/** A day that holds events, as the service reports it. */
export interface ToldDay {
  readonly day: string;
  readonly state: Exclude<DayState, 'missing'>;
  /** The version of the day's data. It changes whenever the data change. */
  readonly version: string;
}
