import { measureColumns } from '../../lake-check/report-columns.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { lakeCommand } from '../../tools/lake.ts';

export interface LakeRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

// The commands show their progress here, however they are called. Tests are quiet.
process.stderr.write = () => true;

/** So that files of few columns are converted. */
const WITHOUT = ['--without', reports.flatMap(measureColumns).join()];

/** Runs `npm run lake --` with these arguments, in this process. The files of a conversion may lack metrics. */
export const runLake = (parameters: readonly string[]): Promise<LakeRun> =>
  runLakeExactly(parameters[0] === 'convert' ? [...parameters, ...WITHOUT] : parameters);

export async function runLakeExactly(parameters: readonly string[]): Promise<LakeRun> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await lakeCommand(parameters, {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  return { code, stdout: out.join(''), stderr: err.join('') };
}
