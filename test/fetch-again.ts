import { setTimeout } from 'node:timers/promises';

/**
 * Pauses before the second and the third try, in milliseconds. A registry that fails for a moment answers again by
 * then.
 */
const PAUSES_MS = [5_000, 15_000];

/**
 * Downloads something; if that fails, tries again after each pause. Rejects if the last try fails too: the message
 * names the download and has the last line of the installer's output, and the cause has all of the output.
 */
export async function fetchAgain<T>(what: string, download: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS)
    try {
      return await download();
    } catch (error) {
      process.stdout.write(`${what}: ${lastLine(error)}; tried again in ${pauseMs / 1_000} s\n`);
      await setTimeout(pauseMs);
    }
  try {
    return await download();
  } catch (error) {
    const tries = PAUSES_MS.length + 1;
    throw new Error(`${what} can't be downloaded in ${tries} tries: ${lastLine(error)}`, { cause: error });
  }
}

function lastLine(error: unknown): string {
  // After "-> [Help 1]" Maven prints only hints on where to read more.
  const [output = ''] = String(error).split(' -> [Help ');
  return output.trim().split('\n').at(-1) ?? '';
}
