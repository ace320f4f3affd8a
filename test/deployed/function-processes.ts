import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, parentOf, readProc } from '../linux-process.ts';
import { currentLane } from './lane.ts';

const LOOK_MS = 20;

/**
 * Kills the processes in which the emulator runs a function, as in a crash. Resolves when the emulator can see that
 * they have ended: before that, it could give a request to one of them, and answer 502. The processes descend from the
 * emulator's process, and have the function's name in their environment.
 */
export async function killProcesses(functionName: string): Promise<void> {
  for (let running = processesOf(functionName); running.length > 0; running = processesOf(functionName)) {
    for (const id of running) signal(id);
    while (!running.every(hasEnded)) await pause(LOOK_MS);
  }
}

/** The ids of a function's running processes. A process that has ended has an empty environment. */
function processesOf(functionName: string): number[] {
  const mark = `AWS_LAMBDA_FUNCTION_NAME=${functionName}\0`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((id) => readProc(id, 'environ').includes(mark) && descendsFromEmulator(id));
}

function descendsFromEmulator(id: number): boolean {
  const emulator = currentLane()?.emulatorId;
  for (let ancestor = parentOf(id); ancestor > 1; ancestor = parentOf(ancestor))
    if (ancestor === emulator) return true;
  return false;
}

function signal(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {}
}
