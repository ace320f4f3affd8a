import { setTimeout as pause } from 'node:timers/promises';

/** CloudFormation's event to the function that serves a custom resource: the members that its answer needs. */
export interface StackEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  /** Where the answer goes. It is a secret: whoever has it can answer. So it is never logged. */
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
}

export interface StackAnswer {
  readonly Status: 'SUCCESS' | 'FAILED';
  /** Shown to the operator, as the reason why the deployment failed. */
  readonly Reason: string;
  readonly Data: Readonly<Record<string, string>>;
}

export type AnswerStack = (event: StackEvent, answer: StackAnswer) => Promise<void>;

const TRIES = 5;
const PAUSE_MS = 2_000;
const LONGEST_TRY_MS = 5_000;

/**
 * Answers CloudFormation, which otherwise waits until the resource's time-out. Throws an Error, which does not name the
 * address, after the last try.
 */
export const stackAnswerer =
  (fetch: typeof globalThis.fetch, pauseMs = PAUSE_MS): AnswerStack =>
  async ({ ResponseURL, StackId, RequestId, LogicalResourceId, PhysicalResourceId }, answer) => {
    const body = JSON.stringify({
      // Another id would make CloudFormation delete the resource with the id of before.
      PhysicalResourceId: PhysicalResourceId ?? LogicalResourceId,
      StackId,
      RequestId,
      LogicalResourceId,
      ...answer,
    });
    for (let left = TRIES; ; left--) {
      // The address is signed for an empty type of content.
      const request = { method: 'PUT', body, headers: { 'Content-Type': '' } };
      const signal = AbortSignal.timeout(LONGEST_TRY_MS);
      const status = await fetch(ResponseURL, { ...request, signal }).then(
        (response) => response.status,
        (error: Error) => error.name,
      );
      if (status === 200) return;
      if (left === 1) throw new Error(`CloudFormation does not take the answer: ${status}`);
      await pause(pauseMs);
    }
  };
