/** The lane can't run here. The message is one line for the person at the terminal. */
export class LaneFault extends Error {}

/** The tools can't be had here: there is no Python for them, or no registry. */
export class NoTools extends LaneFault {}

/** With which a command ends where it can't be had here, so that `.ci/run` leaves it out (`sysexits.h`, EX_UNAVAILABLE). */
export const UNAVAILABLE = 69;

/** Tells of a fault in one line and ends with its code. Throws what is none. */
export function tell(error: unknown): void {
  if (!(error instanceof LaneFault)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof NoTools ? UNAVAILABLE : 1;
}
