/** Turns days and hours from the form that people write in the page into the form that a filter sends, and back. */

type Grain = 'day' | 'hour';

/**
 * The text of a filter's value, `2026-02-01` or `2026-02-01 13:00`. A value that is no instant stays as the user typed
 * it.
 */
export const timeText = (value: string, grain: Grain): string => {
  const [, day, time, seconds] = /^([^T]*)T(\d\d:\d\d):(\d\d)Z$/.exec(value) ?? [];
  if (day === undefined || seconds !== '00') return value;
  if (grain === 'day') return time === '00:00' ? day : value;
  return `${day} ${time}`;
};

/**
 * The filter's value for a typed text. The text may also have a T, lack the minutes, or be written as the service
 * writes it.
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
