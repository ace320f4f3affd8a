import { join } from 'node:path';
import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const STAGES = join(import.meta.dirname, 'stages.ts');

/** The endpoint that the operator's commands call, and where the `aws` command is. */
export interface Account {
  readonly endpoint: string;
  /** The folder of the `aws` command. */
  readonly commands: string;
  /** A folder for what commands leave behind. */
  readonly directory: string;
  /** By which the commands trust the endpoint's certificate, unless this process trusts it already. */
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
  const run = async (command: string, parameters: readonly string[], more = {}): Promise<string> => {
    const { code, output } = await runCommand(command, parameters, { cwd, env: { ...env, ...more } });
    if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} ends with ${code}:\n${output}`);
    return output;
  };
  // Version 1 of the AWS CLI has addresses of its own for SQS, which only this option overrides.
  const toEndpoint = ['--endpoint-url', endpoint];
  const aws = (...parameters: string[]) => run(join(commands, 'aws'), [...toEndpoint, ...parameters]);
  // CDK lets only one command at a time use its output folder.
  const output = ['--output', join(directory, 'cdk.out')];
  const commandsOfLane = [
    `aws() { command aws ${toEndpoint.join(' ')} "$@"; }`,
    `npx() { command npx "$@" -c stages=${STAGES} ${output.join(' ')}; }`,
    // The emulator serves no API at the address that `rollback` finds: a script that takes a release back gets API_URL.
    `npm() { command npm "$@" \${API_URL:+--url "$API_URL"}; }`,
  ].join('\n');
  const outputs = async (stage: string, part: string): Promise<Readonly<Record<string, string>>> => {
    const stack = ['--stack-name', `performance-reports-${stage}-${part}`];
    const answer = await aws('cloudformation', 'describe-stacks', ...stack, '--output', 'json');
    const [{ Outputs }] = JSON.parse(answer).Stacks;
    return Object.fromEntries(
      Outputs.map(({ OutputKey, OutputValue }: Record<string, string>) => [OutputKey, OutputValue]),
    );
  };
  /** The address at which the emulator serves a stage's API without a host name of its own. */
  const apiAddress = async (stage: string): Promise<string> => {
    const { hostname, pathname } = new URL((await outputs(stage, 'api'))['ApiUrl'] ?? '');
    return `${endpoint}/_aws/execute-api/${hostname.split('.')[0]}${pathname.replace(/\/$/, '')}`;
  };
  return {
    aws,
    /** Runs a shell script with the commands that the documents use: `aws`, `npm`, `npx cdk deploy`. */
    shell: (script: string, variables: Readonly<Record<string, string>>) =>
      run('bash', ['-euc', `${commandsOfLane}\n${script}`], {
        ...variables,
        PATH: `${commands}:${process.env['PATH']}`,
      }),
    /** `npx cdk …`, as every CDK user types it, on a stage of the lane. */
    cdk: (command: string, stage: string, ...parameters: string[]) =>
      run('npx', [
        'cdk',
        command,
        '-c',
        `stages=${STAGES}`,
        '-c',
        `stage=${stage}`,
        ...output,
        ...parameters,
      ]),
    /** `npm run partner -- …`, of a stage of the lane. */
    partner: (...parameters: string[]) => run('node', ['tools/partner.ts', ...parameters]),
    bootstrap: () =>
      run('npx', ['cdk', 'bootstrap', `aws://${ACCOUNT_ID}/${REGION}`, '--app', '', ...output]),
    /** `npm run rollback -- …`, of a stage of the lane. */
    rollback: async (stage: string, ...parameters: string[]) =>
      run('node', ['tools/rollback.ts', stage, ...parameters, '--url', await apiAddress(stage)]),
    apiAddress,
    /** The outputs of a stack, by name. */
    outputs,
  };
}

export type Operator = ReturnType<typeof operator>;
