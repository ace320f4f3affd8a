/** A fault that the operator must correct. Its message says what and where; a stack trace would only hide it. */
export class SetupFault extends Error {}

/** Runs a command; a fault of the setup ends it with the message and exit code 1. */
export async function reportingFaults(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof SetupFault)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
