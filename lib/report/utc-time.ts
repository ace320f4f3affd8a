/** The form of an instant, in letters (docs/contract.md#the-window). */
export const UTC_TIME_FORM = 'YYYY-MM-DDThh:mm:ssZ';

/** A form in letters as a regular expression: each letter except T and Z means a digit. */
export const patternOf = (form: string): string => `^${form.replaceAll(/[YMDhms]/g, '\\d')}$`;
const FORMAT = RegExp(patternOf(UTC_TIME_FORM));

export const SECOND_MS = 1_000;
export const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The longest window of a report, in days (docs/contract.md#the-window). */
export const MAX_WINDOW_DAYS = 32;

/** Parses the contract's date-time, `YYYY-MM-DDThh:mm:ssZ`, to milliseconds since 1970; undefined if invalid. */
export function parseUtcTime(text: string): number | undefined {
  if (!FORMAT.test(text)) return undefined;
  const time = Date.parse(text);
  // Date.parse turns 30 February into a day of March. A date that exists is the same when it is formatted again.
  return !Number.isNaN(time) && formatUtcTime(time) === text ? time : undefined;
}

/** Whether a text has the form of an instant, but there is no such day or hour. */
export const isImpossible = (text: string): boolean => FORMAT.test(text) && parseUtcTime(text) === undefined;

/** `YYYY-MM-DDThh:mm:ssZ` (docs/contract.md#the-file). */
export const formatUtcTime = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** The UTC day of an instant, `YYYY-MM-DD`: a value of the partition column. */
export const utcDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

export const isMidnight = (time: number): boolean => time % DAY_MS === 0;

/** A span of time, milliseconds since 1970: from `start` up to, not including, `end`. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** The whole of a UTC day, `YYYY-MM-DD`. */
export function wholeDay(day: string): Window {
  const start = Date.parse(day);
  return { start, end: start + DAY_MS };
}

/** The first and the last UTC day that a window touches. */
export const daysOf = ({ start, end }: Window): { first: string; last: string } => ({
  first: utcDay(start),
  last: utcDay(end - SECOND_MS),
});

/** The UTC days, `YYYY-MM-DD`, from the first to the last, both inclusive. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let time = Date.parse(first); time <= Date.parse(last); time += DAY_MS) days.push(utcDay(time));
  return days;
}

/**
 * Whether something that was made at `at` is younger than `limitMs`. False if `at` is in the future: the clock was set
 * back, so the age is not known, and nothing may be kept for longer than its limit. Times are milliseconds since 1970.
 */
export const isYounger = (at: number, limitMs: number, now: number): boolean =>
  at <= now && now - at < limitMs;
