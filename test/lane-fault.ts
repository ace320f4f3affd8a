/** A command for tests can't run, was stopped, or has found a fault. The message is for the person at the terminal. */
export class LaneFault extends Error {}

/** This machine lacks something that the tools need, such as Python or a JDK. A failed download is not this fault. */
export class NoTools extends LaneFault {}

/**
 * The exit code of a command that can't run on this machine (EX_UNAVAILABLE of `sysexits.h`). `.ci/run` does not count
 * such a command as failed.
 */
const UNAVAILABLE = 69;

/** Prints a fault's message without a stack trace, and sets the exit code. Throws every other error. */
export function tell(error: unknown): void {
  if (!(error instanceof LaneFault)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof NoTools ? UNAVAILABLE : 1;
}
