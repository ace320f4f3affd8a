/** Days and hours as people write them in the page, and as a filter sends them. */

type Grain = 'day' | 'hour';

/** `2026-02-01` or `2026-02-01 13:00` for a filter's value. A value that is no instant stays as it was typed. */
export const timeText = (value: string, grain: Grain): string => {
  const [, day, time, seconds] = /^([^T]*)T(\d\d:\d\d):(\d\d)Z$/.exec(value) ?? [];
  if (day === undefined || seconds !== '00') return value;
  if (grain === 'day') return time === '00:00' ? day : value;
  return `${day} ${time}`;
};

/** A filter's value for what was typed: also with a T, without the minutes, or as the service writes it. */
export const timeValue = (text: string, grain: Grain): string => {
  const typed = text.trim();
  if (grain === 'day') return /^\d{4}-\d\d-\d\d$/.test(typed) ? `${typed}T00:00:00Z` : typed;
  const [, day, hour, minutes] = /^(\d{4}-\d\d-\d\d)[ T](\d\d)(?::(\d\d))?$/.exec(typed) ?? [];
  return day === undefined ? typed : `${day}T${hour}:${minutes ?? '00'}:00Z`;
};

/** Whether the text is complete. While the user is still in the input, only a complete text is taken. */
export const isWholeTime = (text: string, grain: Grain): boolean =>
  (grain === 'day' ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$/).test(text);
