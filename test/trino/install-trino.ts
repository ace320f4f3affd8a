import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { NoTools } from '../lane-fault.ts';
import { runTool } from './run-tool.ts';

export const TRINO_VERSION = '435';
const OLDEST_JAVA = 17;
export const JAVA = 'java';

export const SOURCES = join(import.meta.dirname, 'server');
const POM = join(SOURCES, 'pom.xml');
const PLUGIN_SOURCE = join(SOURCES, 'LocalFilesPlugin.java');

/**
 * Puts a Trino server together in the user's cache, unless it is there already: `lib/` and `plugin/hive/`. Resolves
 * to its directory; rejects with NoTools where Java, Maven or the registry of its parts is missing.
 */
export async function installTrino(): Promise<string> {
  await checkTools();
  const made = createHash('sha256');
  for (const source of [POM, PLUGIN_SOURCE]) made.update(await readFile(source));
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'performance-reports');
  const home = join(cache, `trino-${TRINO_VERSION}-${made.digest('hex').slice(0, 12)}`);
  if (existsSync(home)) return home;

  process.stdout.write(`Fetching Trino ${TRINO_VERSION}, once, into ${home}\n`);
  await mkdir(cache, { recursive: true });
  // Installed under another name until it is complete: a killed run leaves nothing that looks complete.
  const partial = await mkdtemp(`${home}-partial-`);
  try {
    await runTool('mvn', '-q', '-B', '-f', POM, `-DtrinoHome=${partial}`, 'package').catch(
      ({ message }: Error) => {
        throw new NoTools(message);
      },
    );
    await rename(join(partial, 'plugin', `trino-hive-${TRINO_VERSION}`), join(partial, 'plugin', 'hive'));
    await compilePlugin(partial);
    await rename(partial, home);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return home;
}

async function checkTools(): Promise<void> {
  const java = await runTool(JAVA, '-version');
  const [, version] = /version "(\d+)/.exec(java) ?? [];
  if (Number(version) < OLDEST_JAVA)
    throw new NoTools(`The Trino lane needs a JDK, ${OLDEST_JAVA} or later; Java is ${version} here.`);
  await runTool('javac', '-version');
  await runTool('mvn', '-version');
}

/** Beside the connector's jars, where Trino looks for plugins. */
async function compilePlugin(home: string): Promise<void> {
  const hive = join(home, 'plugin', 'hive');
  const classes = join(hive, 'local-files');
  const classPath = [join(home, 'lib', '*'), join(hive, '*')].join(':');
  await runTool('javac', '-nowarn', '-cp', classPath, '-d', classes, PLUGIN_SOURCE);
  const services = join(classes, 'META-INF', 'services');
  await mkdir(services, { recursive: true });
  await writeFile(join(services, 'io.trino.spi.Plugin'), 'LocalFilesPlugin\n');
}
