/** What the release before stored of a job, read as what this one stores. Nothing is written in these forms. */
import * as v from 'valibot';
import type { JobRecord } from './job-record.ts';
import { LONGEST_KEPT_MS } from './judge-record.ts';
import type { StoredDocument } from './results.ts';

const open = { form: v.literal(1), token: v.string(), isRetry: v.boolean() };
const ended = {
  form: v.literal(1),
  token: v.string(),
  executionId: v.string(),
  submittedAt: v.number(),
  completedAt: v.number(),
  bytesScanned: v.number(),
  engineMs: v.number(),
};

const formerRecord = v.variant('state', [
  v.object({ state: v.literal('starting'), ...open }),
  v.object({ state: v.literal('under-way'), ...open, executionId: v.string() }),
  v.object({
    state: v.literal('succeeded'),
    ...ended,
    location: v.string(),
    resultBytes: v.number(),
    isCopy: v.boolean(),
  }),
  v.object({ state: v.literal('cut-off'), ...ended, limit: v.number() }),
]);

/**
 * Undefined where a document holds nothing that can still be used: no failure of the release before is given on. The
 * record that replaced it may expire before it does: so an old one tells nothing any more.
 */
export function readFormerRecord(stored: StoredDocument | undefined): JobRecord | undefined {
  const result = v.safeParse(formerRecord, stored?.document);
  if (!stored || stored.ageMs >= LONGEST_KEPT_MS || !result.success) return undefined;
  const { token: attempt, ...former } = result.output;
  const named = { form: 2, writer: '', attempt } as const;
  switch (former.state) {
    case 'starting':
      return { ...named, state: 'starting', isRetry: former.isRetry };
    case 'under-way': {
      const { executionId, isRetry } = former;
      return { ...named, state: 'under-way', isRetry, executionId, elapsedMs: stored.ageMs };
    }
    case 'succeeded': {
      const { isCopy: isOfVersion, ...others } = former;
      return { ...others, ...named, isOfVersion };
    }
    case 'cut-off': {
      const { limit, ...others } = former;
      return { ...others, ...named, state: 'scan-limit-exceeded', ...(limit > 0 && { limit }) };
    }
  }
}

/** How far the release before had come with a report that somebody waits for. */
export const formerProgress = v.object({
  data: v.object({ version: v.string(), trace: v.string(), isListed: v.boolean() }),
  token: v.optional(v.string()),
  cacheStatus: v.picklist(['hit', 'miss', 'collapsed']),
  moves: v.number(),
});
