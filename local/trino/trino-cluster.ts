import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** A Trino cluster: its address, its user, and the place of the data contract's tables. */
export interface TrinoCluster {
  readonly url: string;
  readonly user: string;
  readonly password?: string | undefined;
  readonly catalog: string;
  readonly schema: string;
}

/**
 * The cluster that the environment names. Undefined without `TRINO_URL`. Throws an OperatorFault if `TRINO_URL` is not
 * an HTTP URL, or would send a password without TLS.
 */
export function clusterOf(env: NodeJS.ProcessEnv): TrinoCluster | undefined {
  const url = env['TRINO_URL'];
  if (!url) return undefined;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new OperatorFault(`"${url}" is no address. Set it to one like http://trino.example:8080.`);
  if (env['TRINO_PASSWORD'] && !/^https:/i.test(url))
    throw new OperatorFault(
      `"${url}" would send TRINO_PASSWORD without TLS. Set it to an https: URL, or unset TRINO_PASSWORD.`,
    );
  return {
    url,
    user: env['TRINO_USER'] || 'performance-reports',
    password: env['TRINO_PASSWORD'],
    catalog: env['TRINO_CATALOG'] || 'hive',
    schema: env['TRINO_SCHEMA'] || 'performance_reports',
  };
}

/** The headers of every call to the cluster. */
export const headersOf = ({ user, password, catalog, schema }: TrinoCluster): Record<string, string> => ({
  'X-Trino-User': user,
  'X-Trino-Source': 'performance-reports',
  'X-Trino-Catalog': catalog,
  'X-Trino-Schema': schema,
  'X-Trino-Time-Zone': 'UTC',
  ...(password && { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }),
});
