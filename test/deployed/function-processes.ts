import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { currentLane } from './lane.ts';

const LOOK_MS = 20;

/**
 * Ends the processes in which the emulator runs a function, at once, as a crash would; resolves when they are gone, so
 * that no later request can be given to one of them. They descend from the emulator's process, and are known by the name
 * that Lambda gives a function in its environment.
 */
export async function killProcesses(functionName: string): Promise<void> {
  for (let running = processesOf(functionName); running.length > 0; running = processesOf(functionName)) {
    for (const id of running) signal(id);
    await pause(LOOK_MS);
  }
}

/** A process that has ended has an empty environment. */
function processesOf(functionName: string): number[] {
  const mark = `AWS_LAMBDA_FUNCTION_NAME=${functionName}\0`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && told(entry, 'environ').includes(mark))
    .map(Number)
    .filter(descendsFromEmulator);
}

function descendsFromEmulator(id: number): boolean {
  const emulator = currentLane()?.emulatorId;
  for (let ancestor = parentOf(id); ancestor > 1; ancestor = parentOf(ancestor))
    if (ancestor === emulator) return true;
  return false;
}

const parentOf = (id: number): number => Number(/^PPid:\s*(\d+)$/m.exec(told(id, 'status'))?.[1] ?? 0);

function told(id: number | string, file: 'environ' | 'status'): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    // It belongs to another user, or it has ended.
    return '';
  }
}

function signal(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}
