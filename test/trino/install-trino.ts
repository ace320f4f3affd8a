import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInstaller } from '../clients/run-program.ts';
import { runCommand } from '../deployed/run-command.ts';
import { NoTools } from '../lane-fault.ts';
import { toolCache } from '../tool-cache.ts';

export const TRINO_VERSION = '435';
const OLDEST_JAVA = 17;
export const JAVA = 'java';

export const SOURCES = join(import.meta.dirname, 'server');
const POM = join(SOURCES, 'pom.xml');
const PLUGIN_SOURCE = join(SOURCES, 'LocalFilesPlugin.java');

/**
 * Installs a Trino server (`lib/` and `plugin/hive/`) in the user's cache, unless the cache has it. Resolves to the
 * server's directory. Rejects with NoTools if the machine has no JDK or no Maven, or if its Java is older than 17.
 */
export async function installTrino(): Promise<string> {
  await checkTools();
  const sources = await Promise.all([POM, PLUGIN_SOURCE].map((source) => readFile(source, 'utf8')));
  return toolCache(`trino-${TRINO_VERSION}`, sources, async (home) => {
    process.stdout.write(`Fetching Trino ${TRINO_VERSION}, once, into ${home}\n`);
    await runInstaller('mvn', ['-q', '-B', '-f', POM, `-DtrinoHome=${home}`, 'package']);
    await rename(join(home, 'plugin', `trino-hive-${TRINO_VERSION}`), join(home, 'plugin', 'hive'));
    await compilePlugin(home);
  });
}

async function checkTools(): Promise<void> {
  const needs = `The Trino lane needs a JDK, ${OLDEST_JAVA} or later, and Maven;`;
  const versions: Record<string, string> = {};
  for (const tool of [JAVA, 'javac', 'mvn']) {
    const { code, output } = await runCommand(tool, ['-version']).catch(() => ({ code: 1, output: '' }));
    if (code !== 0) throw new NoTools(`${needs} there is no ${tool} here.`);
    versions[tool] = output;
  }
  const [, version] = /version "(\d+)/.exec(versions[JAVA] ?? '') ?? [];
  if (Number(version) < OLDEST_JAVA) throw new NoTools(`${needs} Java is ${version} here.`);
}

/** Compiles the plugin into the folder of the connector's jars, in which Trino looks for plugins. */
async function compilePlugin(home: string): Promise<void> {
  const hive = join(home, 'plugin', 'hive');
  const classes = join(hive, 'local-files');
  const classPath = [join(home, 'lib', '*'), join(hive, '*')].join(':');
  await runInstaller('javac', ['-nowarn', '-cp', classPath, '-d', classes, PLUGIN_SOURCE]);
  const services = join(classes, 'META-INF', 'services');
  await mkdir(services, { recursive: true });
  await writeFile(join(services, 'io.trino.spi.Plugin'), 'LocalFilesPlugin\n');
}
