import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LaneFault } from '../lane-fault.ts';
import { freePort, stopServer, untilReady } from '../server-process.ts';
import { JAVA, SOURCES, TRINO_VERSION } from './install-trino.ts';
import { CATALOG, runStatement } from './trino-tables.ts';

const START_MS = 120_000;
const STOP_MS = 10_000;

/** A Trino server with one node, on the loopback address. */
export interface TrinoServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts the Trino server in `home`. It writes to a temporary directory, which is removed when the server ends. */
export async function startTrino(home: string): Promise<TrinoServer> {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-trino-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const url = `http://127.0.0.1:${await freePort()}`;
  await configure(directory, url);
  const logPath = join(directory, 'server.log');
  const log = await open(logPath, 'w');
  const child = spawn(JAVA, parametersFor(home, directory), {
    stdio: ['ignore', log.fd, log.fd],
    cwd: directory,
  });
  started.defer(() => stopServer(child, STOP_MS));
  await log.close();
  if (!(await untilReady(child, START_MS, () => isServing(url)))) {
    const lines = (await readFile(logPath, 'utf8')).trimEnd().split('\n');
    throw new LaneFault(`Trino does not start: ${lines.findLast((line) => /ERROR|Exception/.test(line))}`);
  }
  const running = started.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/**
 * Whether the server can read a table. A server that says it has started may still fail: for a second or two, it finds
 * no node that has the catalog (NO_NODES_AVAILABLE).
 */
async function isServing(url: string): Promise<boolean> {
  const cluster = { url, user: 'test', catalog: CATALOG, schema: 'readiness' };
  const table = `${CATALOG}.readiness.one_row`;
  const statements = [
    `CREATE SCHEMA IF NOT EXISTS ${CATALOG}.readiness`,
    `CREATE TABLE IF NOT EXISTS ${table} AS SELECT 1 AS one`,
    `SELECT one FROM ${table}`,
  ];
  try {
    for (const sql of statements) await runStatement(cluster, sql);
    return true;
  } catch {
    return false;
  }
}

/** Writes the server's configuration into a directory: one node, and one catalog on local files. */
async function configure(directory: string, url: string): Promise<void> {
  await mkdir(join(directory, 'catalog'));
  const properties = {
    'config.properties': [
      ...['coordinator=true', 'node-scheduler.include-coordinator=true'],
      `http-server.http.port=${new URL(url).port}`,
      `discovery.uri=${url}`,
      'query.max-memory-per-node=1GB',
    ],
    [`catalog/${CATALOG}.properties`]: [
      ...['connector.name=hive_on_local_files', 'hive.metastore=file', 'hive.security=allow-all'],
      `hive.metastore.catalog.dir=local://${directory}/metastore`,
      ...['hive.storage-format=PARQUET', 'hive.parquet.use-column-names=true'],
      'hive.partition-projection-enabled=true',
      // S3 has no folders, so a projected day without a folder must count as empty.
      'hive.ignore-absent-partitions=true',
    ],
  };
  for (const [name, lines] of Object.entries(properties))
    await writeFile(join(directory, name), `${lines.join('\n')}\n`);
}

/** The command-line parameters of `java`. */
const parametersFor = (home: string, directory: string): string[] => [
  // The server runs for minutes: the JVM's second compiler would cost more time than its faster code saves.
  ...['-Xmx2G', '-XX:TieredStopAtLevel=1'],
  // The next four options are in the jvm.config of the Trino release.
  ...['-XX:G1HeapRegionSize=32M', '-XX:+ExitOnOutOfMemoryError', '-XX:ReservedCodeCacheSize=256M'],
  ...['-Djdk.attach.allowAttachSelf=true', '-Duser.timezone=UTC', '-Dfile.encoding=UTF-8'],
  ...['-Dnode.environment=test', '-Dnode.bind-ip=127.0.0.1', '-Dnode.internal-address=127.0.0.1'],
  ...[`-Dnode.data-dir=${directory}`, `-Dplugin.dir=${join(home, 'plugin')}`],
  ...[
    `-Dcatalog.config-dir=${join(directory, 'catalog')}`,
    `-Dconfig=${join(directory, 'config.properties')}`,
  ],
  ...['-cp', join(home, 'lib', '*'), join(SOURCES, 'StartTrino.java'), TRINO_VERSION],
];
