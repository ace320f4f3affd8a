import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, parentOf, readProc } from '../linux-process.ts';
import { currentLane } from './lane.ts';

const LOOK_MS = 20;

/**
 * Ends the processes in which the emulator runs a function, at once, as a crash would; resolves when the emulator can see
 * that they have ended, so that no later request is given to one of them and answered 502. They descend from the
 * emulator's process, and are known by the name that Lambda gives a function in its environment.
 */
export async function killProcesses(functionName: string): Promise<void> {
  for (let running = processesOf(functionName); running.length > 0; running = processesOf(functionName)) {
    for (const id of running) signal(id);
    while (!running.every(hasEnded)) await pause(LOOK_MS);
  }
}

/** A process that has ended has an empty environment. */
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
  } catch {
    // The process has ended meanwhile.
  }
}
