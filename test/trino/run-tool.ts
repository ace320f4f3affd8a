import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LaneFault, NoTools } from '../lane-fault.ts';

const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/** Runs a tool to its end and resolves to all that it wrote. Rejects with NoTools if it is missing, with a LaneFault if it fails. */
export async function runTool(tool: string, ...parameters: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(tool, parameters, { maxBuffer: MAX_OUTPUT_BYTES });
    return stdout + stderr;
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (code === 'ENOENT')
      throw new NoTools(`The Trino lane needs a JDK, 17 or later, and Maven; there is no ${tool} here.`);
    const [reason = ''] = `${stdout}${stderr}`.split('\n', 1);
    throw new LaneFault(`${tool} ${parameters[0]} ends with ${code}: ${reason}`);
  }
}
