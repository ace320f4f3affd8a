/** Tests effects of the runbook's blocks that a deployment on the emulator can't show. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOfEach } from '../own-folder.ts';
import { runbookBlocks } from './runbook-blocks.ts';

const blocks = runbookBlocks();
const ownFolder = folderOfEach();

/**
 * Runs shell.sh and then a script, in a shell with a fake `aws`. The fake answers a call with the first of `answers`
 * whose name is a part of the call. All other calls succeed without output.
 */
function run(script: string, { answers = {}, stage = 'prod' }: { answers?: object; stage?: string } = {}) {
  const folder = ownFolder();
  const cases = Object.entries(answers).map(([call, answer]) => `*'${call}'*) printf '${answer}' ;;`);
  const aws = `#!/bin/sh\necho "$*" >> '${folder}/calls'\ncase "$*" in\n${cases.join('\n')}\nesac\n`;
  writeFileSync(join(folder, 'aws'), aws, { mode: 0o755 });
  writeFileSync(join(folder, 'calls'), '');
  const shell = ['--norc', '-euc', `${blocks.get('shell.sh')}\n${script}`];
  const env = { PATH: `${folder}:${process.env['PATH']}`, ...(stage && { STAGE: stage }) };
  const { status, stdout, stderr } = spawnSync('bash', shell, { env, encoding: 'utf8' });
  return { status, stdout, stderr, calls: readFileSync(join(folder, 'calls'), 'utf8').split('\n') };
}

describe('the shell of the runbook', () => {
  it('refuses to run a block without STAGE, before any call of AWS', () => {
    const { status, stderr, calls } = run(blocks.get('stop-everything.sh') ?? '', { stage: '' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('STAGE: must name the stage');
    expect(calls).toEqual(['']);
  });

  const many =
    'ask: these are the latest 10,000 lines, as many as Logs Insights gives. Ask for fewer days at a time.\n';
  it.each([
    [9_999, ''],
    [10_000, many],
  ])('prints found log lines; if there are %i lines, the error output is %j', (lines, said) => {
    const answers = {
      ...{ 'list-stack-resources': 'one\\n', 'start-query': 'query-1', '--query status': 'Complete' },
      ...{ 'length(results)': String(lines), 'results[*]': 'a line\\n' },
    };
    expect(run('ask pattern', { answers })).toMatchObject({ status: 0, stdout: 'a line\n', stderr: said });
  });

  it('gives each function the reservation of the deployed template when the service starts again', () => {
    const resources = 'publish1 stage-publish\\nreports2 stage-reports\\n';
    const reserved = { 'Resources.publish1.': '7\\n', 'Resources.reports2.': 'None\\n' };
    const answers = { 'list-stack-resources': resources, ...reserved };
    const { status, calls } = run(blocks.get('start-again.sh') ?? '', { answers });
    expect(status).toBe(0);
    expect(calls.filter((call) => /^lambda|^athena/.test(call))).toEqual([
      'lambda put-function-concurrency --function-name stage-publish --reserved-concurrent-executions 7',
      'lambda delete-function-concurrency --function-name stage-reports',
      'athena update-work-group --work-group performance-reports-prod --state ENABLED',
    ]);
  });
});
