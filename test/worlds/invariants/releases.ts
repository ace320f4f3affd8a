/**
 * What neighbouring releases excuse. They share tickets, slots and publications, but no records: a caller whose hop comes
 * to the other release waits there for another query, and release 1.0.0 goes by what it knows of it.
 */
import type { AnsweredRequest } from '../caller.ts';
import type { Pull } from '../parts.ts';

const releases = new WeakMap<Pull, boolean[]>();

/** Notes by which release a request was answered. */
export function noteRelease({ pull, answer }: AnsweredRequest): void {
  releases.set(pull, [...(releases.get(pull) ?? []), answer.invocation.machine.isOfReleaseBefore]);
}

/** How often a pull's request was answered by another release than the one before. */
export const crossings = (pull: Pull): number =>
  (releases.get(pull) ?? []).filter((each, index, all) => index > 0 && each !== all[index - 1]).length;

/** Whether release 1.0.0 has answered one of a pull's requests. */
export const hasMetReleaseBefore = (pull: Pull): boolean => releases.get(pull)?.includes(true) ?? false;
