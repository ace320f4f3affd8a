import * as v from 'valibot';
import { REGISTER_PREFIX } from '../../lib/names.ts';

/**
 * What the commands note of a name: which client it stands for, and which command is under way, so that one that was
 * killed can be repeated. The functions never read it.
 */
const nameRecord = v.strictObject({
  form: v.literal(1),
  name: v.string(),
  /** `adding` and `removing` are under way; a name that is `removed` may be given again. */
  state: v.picklist(['adding', 'there', 'removing', 'removed']),
  /** Undefined until the client is there. */
  client: v.optional(v.string()),
  /**
   * The unique name, in Cognito, of the client that the command makes. Cognito allows equal names; by this one, a
   * repeated command finds the client that it made before it was killed. Absent if the client existed before.
   */
  madeAs: v.optional(v.string()),
  /** Set while a second secret is being added, or is good beside the first. */
  rotation: v.optional(
    v.strictObject({
      state: v.picklist(['adding', 'shown']),
      /** The id, in Cognito, of the secret that the partner had before. */
      oldSecret: v.string(),
    }),
  ),
});

export type NameRecord = v.InferOutput<typeof nameRecord>;

/** Throws where the document is no such record: the commands change nothing that they do not understand. */
export const readName = (document: unknown): NameRecord => v.parse(nameRecord, document);

export const nameKey = (name: string): string => `${REGISTER_PREFIX.names}${name}.json`;
