/** Turns days and hours from the form that people write in the page into the form that a filter sends, and back. */

type Grain = 'day' | 'hour';

/**
 * The text of a filter's value: `2026-02-01` for a day, `2026-02-01 13:00` for an hour. A value of another form stays
 * as it is.
 */
export const timeText = (value: string, grain: Grain): string => {
  const [, day, time, seconds] = /^([^T]*)T(\d\d:\d\d):(\d\d)Z$/.exec(value) ?? [];
  if (day === undefined || seconds !== '00') return value;
  if (grain === 'day') return time === '00:00' ? day : value;
  return `${day} ${time}`;
};

/**
 * The filter's value for a typed text. The text of an hour may have a T before the hour, and may lack the minutes. A
 * text of another form, such as the service's own, stays as it is.
 */
export const timeValue = (text: string, grain: Grain): string => {
  const typed = text.trim();
  if (grain === 'day') return /^\d{4}-\d\d-\d\d$/.test(typed) ? `${typed}T00:00:00Z` : typed;
  const [, day, hour, minutes] = /^(\d{4}-\d\d-\d\d)[ T](\d\d)(?::(\d\d))?$/.exec(typed) ?? [];
  return day === undefined ? typed : `${day}T${hour}:${minutes ?? '00'}:00Z`;
};

/** Whether the text is complete. While the user is still in the input, the page takes only a complete text. */
export const isWholeTime = (text: string, grain: Grain): boolean =>
  (grain === 'day' ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$/).test(text);
