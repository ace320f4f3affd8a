/**
 * The value of a document of the register. Undefined where it is no JSON, or where an object has two members of one
 * name: `JSON.parse` would silently take the last one, and another reader the first.
 */
export function parseDocument(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return memberCount(text) === memberCount(JSON.stringify(document)) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** How many members a JSON text has: each has one colon outside of strings. */
const memberCount = (json: string): number => json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
