import { execFile } from 'node:child_process';

export interface LakeRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run lake --` with these arguments. */
export function runLake(parameters: readonly string[], env: Record<string, string> = {}): Promise<LakeRun> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['tools/lake.ts', ...parameters],
      { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 ** 2 },
      (error, stdout, stderr) =>
        resolve({ code: error ? Number((error as { code?: unknown }).code ?? -1) : 0, stdout, stderr }),
    );
  });
}
