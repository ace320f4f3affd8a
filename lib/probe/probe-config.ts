import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ENV, PROBE_ENV, RELEASE_CHECK_ENV } from '../names.ts';

const url = v.pipe(v.string(), v.url());
const text = v.pipe(v.string(), v.nonEmpty());

const environment = v.object({
  [ENV.apiScope]: text,
  /** The service's URL, as partners use it. */
  [PROBE_ENV.serviceUrl]: url,
  [PROBE_ENV.tokenUrl]: url,
  /** The secret that holds the client's id and secret. */
  [PROBE_ENV.clientSecretId]: text,
});

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

const release = v.object({
  [ENV.commit]: text,
  [RELEASE_CHECK_ENV.versions]: v.pipe(v.string(), v.parseJson(), v.record(v.string(), text)),
});

/** Does the same for the release check. */
export function readReleaseConfig(env: Readonly<Record<string, string | undefined>>) {
  const { [ENV.commit]: commit, [RELEASE_CHECK_ENV.versions]: versions } = v.parse(release, env);
  const digest = createHash('sha256').update(JSON.stringify(versions)).digest();
  return Object.freeze({
    commit,
    /** ARNs of the versions, by the function's name. */
    versions,
    /**
     * Start of the window, in seconds after midnight. It differs for each release. Otherwise the report could come from
     * the cache, and would prove nothing about the release.
     */
    secondsLate: 1 + (digest.readUInt16BE() % 3_600),
  });
}
