import { setTimeout as pause } from 'node:timers/promises';

/** CloudFormation's event to the function that serves a custom resource: the members that its answer needs. */
export interface StackEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  /** Where the answer goes. It is a secret: whoever has it can answer. So it is never logged. */
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
}

export interface StackAnswer {
  readonly Status: 'SUCCESS' | 'FAILED';
  /** Shown to the operator, as the reason why the deployment failed. */
  readonly Reason: string;
  readonly Data: Readonly<Record<string, string>>;
}

export type AnswerStack = (event: StackEvent, answer: StackAnswer) => Promise<void>;

const TRIES = 5;
const LONGEST_TRY_MS = 5_000;

/** Answers CloudFormation. Throws an Error, which does not name the address, after the last try. */
export const stackAnswerer =
  (fetch: typeof globalThis.fetch, pauseMs = 2_000): AnswerStack =>
  async ({ ResponseURL, StackId, RequestId, LogicalResourceId }, answer) => {
    // With another physical id than before, CloudFormation would delete what has the id of before.
    const ids = { PhysicalResourceId: LogicalResourceId, StackId, RequestId, LogicalResourceId };
    for (let left = TRIES; ; left--) {
      const status = await fetch(ResponseURL, {
        method: 'PUT',
        body: JSON.stringify({ ...ids, ...answer }),
        // The address is signed for an empty type of content.
        headers: { 'Content-Type': '' },
        signal: AbortSignal.timeout(LONGEST_TRY_MS),
      }).then(
        (response) => response.status,
        (error: Error) => error.name,
      );
      if (status === 200) return;
      if (left === 1) throw new Error(`CloudFormation does not take the answer: ${status}`);
      await pause(pauseMs);
    }
  };
