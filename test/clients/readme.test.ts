/**
 * Runs the commands of README.md, docs/local.md and docs/security.md against `npm start`, and compares the output with
 * the pages.
 */
import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSampleEvents } from '../../local/events/sample-events.ts';
import { ownFolder } from '../own-folder.ts';
import { startIn } from './npm-start.ts';

const root = join(import.meta.dirname, '../..');
const README_URL = 'http://127.0.0.1:8080';

const home = await ownFolder();
let started: Awaited<ReturnType<typeof startIn>>;
let apiUrl: string;
beforeAll(async () => {
  // The sample events are kept between runs, because they are always the same and slow to make.
  const kept = join(root, '.local/events');
  await makeSampleEvents({ directory: kept });
  await symlink(kept, join(home, 'events'));
  started = await startIn(home, {});
  apiUrl = /Ready at (http:\S+)\. /.exec(started.output)?.[1] ?? '';
});
afterAll(() => started.stop());

interface Shown {
  readonly command: string;
  readonly answer: string;
}

async function shownOn(page: string): Promise<Shown[]> {
  const text = await readFile(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const end = part.indexOf('\n');
        return { command: part.slice(0, end), answer: part.slice(end + 1) };
      }),
  );
}

/** The answer with a fixed text in place of each id, because ids differ in every answer. */
const withoutInstance = (answer: string) => answer.replace(/urn:uuid:[0-9a-f-]{36}/, 'urn:uuid:…');

async function answersOf(commands: readonly string[]): Promise<string[]> {
  const mark = '--- the end of an answer ---';
  const script = [
    'token() { npm run --silent token -- "$1"; }',
    ...commands.map((command) => `${command.replaceAll(README_URL, apiUrl)}\necho '${mark}'`),
  ].join('\n');
  const env = { ...process.env, LOCAL_DIR: home };
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: root, env });
  return stdout.split(`${mark}\n`).slice(0, -1);
}

it('the commands in README.md, docs/local.md and docs/security.md print what the pages show', async () => {
  const pages = ['README.md', 'docs/local.md', 'docs/security.md'];
  const shown = (await Promise.all(pages.map(shownOn))).flat();
  expect(shown.length).toBeGreaterThanOrEqual(5);
  const answers = await answersOf(shown.map(({ command }) => command));
  expect(
    answers.map((answer, index) => ({
      command: shown[index]?.command,
      answer: withoutInstance(answer).replaceAll(apiUrl, README_URL).trimEnd(),
    })),
  ).toEqual(shown.map(({ command, answer }) => ({ command, answer: withoutInstance(answer).trimEnd() })));
});

it('npm start prints the curl command that README.md shows first', async () => {
  const [first] = await shownOn('README.md');
  const printed = /^curl .*$/m.exec(started.output)?.[0].replace(`LOCAL_DIR='${home}' `, '');
  expect(printed?.replace(apiUrl, README_URL)).toBe(first?.command);
});
