/**
 * The value of a document of the register. Undefined if the document is no JSON, or if an object in it has two members
 * of the same name: `JSON.parse` would silently use the last one, and another program the first one.
 */
export function parseDocument(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return memberCount(text) === memberCount(JSON.stringify(document)) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** The number of members in a JSON text: each member has one colon outside strings. */
const memberCount = (json: string): number => json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
