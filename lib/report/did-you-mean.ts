import { distance } from 'fastest-levenshtein';

const SHOWN_CHARACTERS = 100;

/** The caller's own text, shortened if it is long, so that an answer stays small whatever the request contains. */
export function shortened(text: string): string {
  const characters = [...text];
  return characters.length > SHOWN_CHARACTERS ? `${characters.slice(0, SHOWN_CHARACTERS).join('')}…` : text;
}

/** The caller's own text in a message: in quotes, escaped and of bounded length. */
export const quoted = (text: string): string => JSON.stringify(shortened(text));

/** A sentence that names the nearest known name, or all known names if none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: distance(name.trim().toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= Math.max(2, nearest.candidate.length / 3)
    ? `Did you mean ${quoted(nearest.candidate)}?`
    : `Known are: ${known.join(', ')}.`;
}
