import { lakeCommand } from '../../tools/lake/command.ts';

export interface LakeRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run lake --` with these arguments, in this process. */
export async function runLake(parameters: readonly string[]): Promise<LakeRun> {
  let stdout = '';
  let stderr = '';
  const code = await lakeCommand(parameters, {
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
  });
  return { code, stdout, stderr };
}
