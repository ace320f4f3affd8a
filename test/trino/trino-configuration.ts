import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SOURCES, TRINO_VERSION } from './install-trino.ts';
import { CATALOG } from './trino-tables.ts';

/** Writes the server's configuration into a directory: one node, and one catalog on local files. */
export async function configure(directory: string, url: string): Promise<void> {
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
export const parametersFor = (home: string, directory: string): string[] => [
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
