import { conditionalRequestConflict } from './s3-error.ts';
import type { Publish } from './stored-file.ts';

interface Write {
  isOvertaken: boolean;
}

/**
 * The conditional writes under way. If several write one object, the first to finish wins and the others get 412. A
 * DELETE that succeeds before a conditional write finishes makes that write a conflict (409). See
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html.
 */
export class WritesInFlight {
  readonly #writes = new Map<string, Set<Write>>();

  /** Runs a conditional write of the object. The write must publish by the function that it receives. */
  async run<T>(object: string, publish: Publish, write: (publish: Publish) => Promise<T>): Promise<T> {
    const own: Write = { isOvertaken: false };
    const others = this.#writes.get(object) ?? new Set();
    this.#writes.set(object, others.add(own));
    try {
      return await write((from, to) => {
        if (own.isOvertaken) throw conditionalRequestConflict();
        publish(from, to);
      });
    } finally {
      others.delete(own);
      if (others.size === 0) this.#writes.delete(object);
    }
  }

  objectDeleted(object: string): void {
    for (const write of this.#writes.get(object) ?? []) write.isOvertaken = true;
  }
}
