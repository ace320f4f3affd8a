import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { faultLine } from '../../lib/terminal/operator-fault.ts';
import { partnerCommand } from '../../tools/partner.ts';
import { spawnNode } from '../spawn-node.ts';

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the command in this process, whose environment names the address of AWS. */
export async function partnerHere(args: readonly string[]): Promise<Ended> {
  const lines: string[] = [];
  try {
    await partnerCommand(args, (...more) => lines.push(...more));
    return { code: 0, output: lines.map((line) => `${line}\n`).join('') };
  } catch (error) {
    const line = faultLine(error);
    if (line === undefined) throw error;
    return { code: 1, output: [...lines, line].map((text) => `${text}\n`).join('') };
  }
}

/** Runs the command like an operator, in a new process. `onStart` gets the process, so a test can kill it. */
export async function runPartner(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  onStart: (child: ChildProcess) => void = () => {},
): Promise<Ended> {
  const child = spawnNode(['tools/partner.ts', ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  onStart(child);
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
}

export const secretIn = ({ output }: Ended): string | undefined => /client secret +(\S+)/.exec(output)?.[1];
export const clientIn = ({ output }: Ended): string | undefined => /client id +(\S+)/.exec(output)?.[1];
