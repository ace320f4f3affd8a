import * as v from 'valibot';
import { REGISTER_PREFIX } from '../../lib/names.ts';

/**
 * What the commands record of a partner's name: its client, and the command that is under way. With this record, a
 * command that was killed can be repeated. The service's functions never read this record.
 */
const nameRecord = v.strictObject({
  form: v.literal(1),
  name: v.string(),
  /** A command is under way in the states `adding` and `removing`. A `removed` name can be used again. */
  state: v.picklist(['adding', 'there', 'removing', 'removed']),
  /** The client's id. Undefined until the client exists. */
  client: v.optional(v.string()),
  /**
   * The unique name, in Cognito, of the client that the command makes. By this name, a repeated command finds the
   * client that a killed one has made. Absent if the operator names an existing client.
   */
  madeAs: v.optional(v.string()),
  /** Set while a second secret is being added, and while both secrets are valid. */
  rotation: v.optional(
    v.strictObject({
      state: v.picklist(['adding', 'shown']),
      /** The id, in Cognito, of the secret that the partner had before. */
      oldSecret: v.string(),
    }),
  ),
});

export type NameRecord = v.InferOutput<typeof nameRecord>;

/** Throws if the document is no name record, so that no command changes what it does not understand. */
export const readName = (document: unknown): NameRecord => v.parse(nameRecord, document);

export const nameKey = (name: string): string => `${REGISTER_PREFIX.names}${name}.json`;
