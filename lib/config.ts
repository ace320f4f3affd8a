import * as v from 'valibot';
import { ENV } from './names.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const whole = (minimum: number, maximum: number) =>
  v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.minValue(minimum), v.maxValue(maximum));

const environment = v.object({
  /** The identity provider whose tokens are good, as it stands in `iss`. */
  [ENV.tokenIssuer]: text,
  /** Where that provider publishes its signing keys. */
  [ENV.tokenJwksUri]: v.pipe(v.string(), v.url()),
  /** Tokens must be requested with `{API_SCOPE}/.default` (contract 5.2). */
  [ENV.apiScope]: text,
  [ENV.athenaDatabase]: text,
  [ENV.athenaWorkgroup]: text,
  [ENV.resultsBucket]: text,
  /** How long one request waits for its query. API Gateway ends a request at 29 s. */
  [ENV.queryWaitMs]: v.optional(whole(0, 27_000), '25000'),
  /** How long a download URL is good for; SigV4 allows a week, the role's credentials far less. */
  [ENV.downloadUrlSeconds]: v.optional(whole(1, 43_200), '300'),
});

/** What the functions run by. Times say their unit. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the configuration off the environment, once, when a function starts. Throws an Error that names
 * every variable that is missing or wrong.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const result = v.safeParse(environment, env);
  if (!result.success) {
    const faults = result.issues.map(({ message, path }) => `${path?.[0].key}: ${message}`);
    throw new Error(`The environment is incomplete.\n${faults.join('\n')}`);
  }
  const values = result.output;
  return Object.freeze({
    token: Object.freeze({
      issuer: values[ENV.tokenIssuer],
      jwksUri: values[ENV.tokenJwksUri],
      apiScope: values[ENV.apiScope],
    }),
    athenaDatabase: values[ENV.athenaDatabase],
    athenaWorkgroup: values[ENV.athenaWorkgroup],
    resultsBucket: values[ENV.resultsBucket],
    queryWaitMs: values[ENV.queryWaitMs],
    downloadUrlSeconds: values[ENV.downloadUrlSeconds],
  });
}
