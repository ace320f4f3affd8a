import type { Caller } from './choice.ts';
import type { FoundValues } from './found-values.ts';
import type { Days } from './presets.ts';

/** A question for the values of a dimension in some days of a report, as one caller sees them. */
export interface ValuesQuestion {
  readonly caller: Caller;
  readonly report: string;
  readonly dimension: string;
  readonly days: Days;
}

/** The largest number of cached answers. An answer with a thousand values takes about 100 kB. */
const MAX_ENTRIES = 50;

/**
 * Caches the answers to questions for values while the page is open.
 *
 * @param versionsOf resolves to the versions of the days' data, in one text; undefined if the service does not report
 *   them. An answer without versions is dropped at the next question for other days.
 */
export function valuesCache(
  versionsOf: (question: ValuesQuestion) => Promise<string | undefined>,
  ask: (question: ValuesQuestion) => Promise<FoundValues>,
) {
  const kept = new Map<string, { readonly untoldDays?: string; readonly found: Promise<FoundValues> }>();

  /**
   * Resolves to the cached answer, to the answer under way, or to a new one. If `ask` rejects, this function rejects
   * too, and caches nothing.
   */
  return async (question: ValuesQuestion): Promise<FoundValues> => {
    const { caller, report, dimension, days } = question;
    const versions = await versionsOf(question);
    const askedDays = JSON.stringify([days.first, days.last]);
    for (const [key, { untoldDays }] of kept)
      if (untoldDays !== undefined && untoldDays !== askedDays) kept.delete(key);
    const key = JSON.stringify([caller.key, report, dimension, askedDays, versions ?? null]);
    const known = kept.get(key);
    if (known) return known.found;
    const found = ask(question);
    kept.set(key, { found, ...(versions === undefined && { untoldDays: askedDays }) });
    const [oldest] = kept.keys();
    if (kept.size > MAX_ENTRIES && oldest !== undefined) kept.delete(oldest);
    return found.catch((error) => {
      kept.delete(key);
      throw error;
    });
  };
}
