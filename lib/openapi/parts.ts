import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';

/** A part of an OpenAPI document: what JSON can hold. */
export type Part = Readonly<Record<string, unknown>>;

/** A reference to one of the document's components. */
export const reference = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): Part => ({
  $ref: `#/components/${kind}/${name}`,
});

export const parametersNamed = (...names: readonly string[]): Part[] =>
  names.map((name) => reference('parameters', name));

export const headersNamed = (...names: readonly string[]): Part =>
  Object.fromEntries(names.map((name) => [name, reference('headers', name)]));

/** The schema of an answer. People read it, so what an object is comes before its members. */
export const jsonSchema = (answer: GenericSchema): Part =>
  JSON.parse(JSON.stringify(toJsonSchema(answer)), (_, value) => {
    if (typeof value?.type !== 'string') return value;
    const { $schema, propertyNames, type, description, required = [], properties, ...others } = value;
    const { additionalProperties, ...limits } = others;
    const members = { ...(required.length > 0 && { required }), properties, additionalProperties };
    return { type, ...limits, description, ...members };
  });
