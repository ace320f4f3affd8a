/** A part of an OpenAPI document: what JSON can hold. */
export type Part = Readonly<Record<string, unknown>>;

/** A reference to one of the document's components. */
export const reference = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): Part => ({
  $ref: `#/components/${kind}/${name}`,
});
