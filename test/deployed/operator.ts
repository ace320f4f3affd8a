import { join } from 'node:path';
import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const STAGES = join(import.meta.dirname, 'stages.ts');

/** An AWS account for the operator's commands: the endpoint that the commands call, and the folders that they use. */
export interface Account {
  readonly endpoint: string;
  readonly commands: string;
  /** A folder for the files that commands write. */
  readonly directory: string;
  /** Variables by which the commands trust the endpoint's certificate. Not needed if this process already has them. */
  readonly trust?: Readonly<Record<string, string>>;
}

export const REGION = 'us-east-1';
const ACCOUNT_ID = '000000000000';
export const ROOT_CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

/** The operator's commands. Each resolves to its output, and rejects with that output if it fails. */
export function operator(
  { endpoint, commands, directory, trust }: Account,
  cwd = ROOT,
  credentials = ROOT_CREDENTIALS,
) {
  const env = {
    ...process.env,
    ...trust,
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_PAGER: '',
  };
  const path = `${commands}:${process.env['PATH']}`;
  const run = async (command: string, parameters: readonly string[], more = {}): Promise<string> => {
    const { code, output } = await runCommand(command, parameters, { cwd, env: { ...env, ...more } });
    if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} ends with ${code}:\n${output}`);
    return output;
  };
  // Version 1 of the AWS CLI has built-in addresses for SQS, which only this option overrides.
  const toEndpoint = ['--endpoint-url', endpoint];
  const aws = (...parameters: string[]) => run(join(commands, 'aws'), [...toEndpoint, ...parameters]);
  /** Runs `aws` with the words of a line and these parameters. Resolves to its JSON, or to {} if it prints nothing. */
  const json = async (line: string, ...parameters: string[]) =>
    JSON.parse((await aws(...line.split(' '), ...parameters, '--output', 'json')) || '{}');
  /** As `json`. Resolves to the printed text. */
  const text = async (line: string, ...parameters: string[]): Promise<string> =>
    (await aws(...line.split(' '), ...parameters, '--output', 'text')).trim();
  // CDK lets only one command at a time use its output folder.
  const output = ['--output', join(directory, 'cdk.out')];
  const commandsOfLane = [
    `aws() { command aws ${toEndpoint.join(' ')} "$@"; }`,
    `npx() { command npx "$@" -c stages=${STAGES} ${output.join(' ')}; }`,
    // The emulator does not serve the address that `npm run rollback` finds, so a script can give API_URL instead.
    `npm() { command npm "$@" \${API_URL:+--url "$API_URL"}; }`,
  ].join('\n');
  const outputs = async (stage: string, part: string): Promise<Readonly<Record<string, string>>> => {
    const stack = `performance-reports-${stage}-${part}`;
    const [{ Outputs }] = (await json('cloudformation describe-stacks --stack-name', stack)).Stacks;
    return Object.fromEntries(
      Outputs.map((each: Record<string, string>) => [each['OutputKey'], each['OutputValue']]),
    );
  };
  /** The address at which the emulator serves a stage's API without the API's host name. */
  const apiAddress = async (stage: string): Promise<string> => {
    const { hostname, pathname } = new URL((await outputs(stage, 'api'))['ApiUrl'] ?? '');
    return `${endpoint}/_aws/execute-api/${hostname.split('.')[0]}${pathname.replace(/\/$/, '')}`;
  };
  return {
    aws,
    json,
    text,
    /** Runs a shell script with the commands that the documents use: `aws`, `npm`, `npx cdk deploy`. */
    shell: (script: string, variables: Readonly<Record<string, string>>) =>
      run('bash', ['-euc', `${commandsOfLane}\n${script}`], { ...variables, PATH: path }),
    /** Runs `npx cdk …` for a stage of `stages.ts`. */
    cdk: (command: string, stage: string, ...parameters: string[]) => {
      const chosen = ['-c', `stages=${STAGES}`, '-c', `stage=${stage}`];
      return run('npx', ['cdk', command, ...chosen, ...output, ...parameters]);
    },
    partner: (...parameters: string[]) => run('node', ['tools/partner.ts', ...parameters]),
    bootstrap: () =>
      run('npx', ['cdk', 'bootstrap', `aws://${ACCOUNT_ID}/${REGION}`, '--app', '', ...output]),
    /** Runs `npm run rollback -- …` for a stage of `stages.ts`. */
    rollback: async (stage: string, ...parameters: string[]) =>
      run('node', ['tools/rollback.ts', stage, ...parameters, '--url', await apiAddress(stage)]),
    /** Runs `npm run doctor -- …` for a stage of `stages.ts`. */
    doctor: (stage: string) => run('node', ['tools/doctor.ts', stage, '--stages', STAGES]),
    /** Runs `npm run smoke -- …`. The stage's own addresses lead to AWS and not to the emulator. */
    smoke: async (stage: string) => {
      const addresses = ['--url', await apiAddress(stage), '--token-url', `${endpoint}/oauth2/token`];
      return run('node', ['tools/smoke.ts', stage, ...addresses]);
    },
    apiAddress,
    outputs,
  };
}

export type Operator = ReturnType<typeof operator>;
