import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ends the processes in which the emulator runs a function, at once, as a crash would. They are the emulator's
 * children, and known by the name that Lambda gives a function in its environment.
 */
export function killProcesses(functionName: string): void {
  const mark = `AWS_LAMBDA_FUNCTION_NAME=${functionName}\0`;
  for (const id of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
    try {
      if (readFileSync(`/proc/${id}/environ`, 'utf8').includes(mark)) process.kill(Number(id), 'SIGKILL');
    } catch {
      // Another's process, or one that has ended.
    }
}
