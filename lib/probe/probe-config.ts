import * as v from 'valibot';
import { ENV, PROBE_ENV, RELEASE_CHECK_ENV } from '../names.ts';

const url = v.pipe(v.string(), v.url());
const text = v.pipe(v.string(), v.nonEmpty());

const environment = v.object({
  [ENV.apiScope]: text,
  /** Where the service is, as partners call it. */
  [PROBE_ENV.serviceUrl]: url,
  [PROBE_ENV.tokenUrl]: url,
  /** The secret that holds the client's id and secret. */
  [PROBE_ENV.clientSecretId]: text,
});

/** The probe's configuration. */
export type ProbeConfig = ReturnType<typeof readProbeConfig>;

/** Reads the probe's configuration from the environment; throws a ValiError that says what is missing or wrong. */
export function readProbeConfig(env: Readonly<Record<string, string | undefined>>) {
  const values = v.parse(environment, env);
  return Object.freeze({
    scope: `${values[ENV.apiScope]}/.default`,
    serviceUrl: values[PROBE_ENV.serviceUrl],
    tokenUrl: values[PROBE_ENV.tokenUrl],
    clientSecretId: values[PROBE_ENV.clientSecretId],
  });
}

const versions = v.pipe(v.string(), v.parseJson(), v.record(v.string(), text));

/** The versions that the check of a new release asks, by the function's name; throws a ValiError where they are missing. */
export const readVersions = (env: Readonly<Record<string, string | undefined>>) =>
  v.parse(versions, env[RELEASE_CHECK_ENV.versions]);
