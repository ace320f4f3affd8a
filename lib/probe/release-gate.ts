import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as v from 'valibot';
import type { AnswerStack, InvokeVersion, StackAnswer, StackEvent } from '../aws/release-calls.ts';
import type { LineLog } from '../http/request-log.ts';
import { GATE, PROBE_ENV } from '../names.ts';
import { askEach, fetchFromVersions } from './fetch-from-versions.ts';
import { type ProbeParts, readProbeConfig, reportPuller, TableMissing } from './pull-report.ts';

/** The check ends before its function times out (`lib/function-settings.ts`), so that CloudFormation gets an answer. */
const LONGEST_CHECK_MS = 280_000;
/** The longest that all versions together may take to answer. The token and the report have 90 s each. */
const LONGEST_ASKING_MS = 100_000;
/** CloudFormation takes answers of 4,096 bytes. */
const LONGEST_REASON = 1_000;

const text = v.pipe(v.string(), v.nonEmpty());
const gateProperties = v.object({ [GATE.release]: text, [GATE.versions]: v.record(v.string(), text) });

/** Properties of the gate, as the template has them. CloudFormation sends every value as text. */
type Properties = Readonly<Record<string, unknown>>;

export interface GateEvent extends StackEvent {
  readonly ResourceProperties: Properties;
  /** In an update: the properties of before. */
  readonly OldResourceProperties?: Properties;
}

export interface CheckParts extends Pick<ProbeParts, 'fetch' | 'readSecret' | 'now'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly invoke: InvokeVersion;
}

/**
 * Makes the check of a release, which calls its versions directly. Each version must answer with the release's name.
 * Then, if the stage has a probe, they must deliver a report of yesterday to the probe's client. Resolves to what was
 * checked; throws an Error that names the first fault.
 */
export const releaseChecker =
  ({ env, invoke, fetch, readSecret, now }: CheckParts) =>
  async (properties: Properties): Promise<string> => {
    const { Release: release, Versions: versions } = v.parse(gateProperties, properties);
    const service = { serviceUrl: env[PROBE_ENV.serviceUrl] ?? '', versions, invoke };
    await askEach(service, release, AbortSignal.timeout(LONGEST_ASKING_MS));
    const answered = `checked: ${Object.keys(versions).length} functions answer with ${release}`;
    const unpulled = `${answered}; no report was pulled, because the`;
    if (env[PROBE_ENV.tokenUrl] === undefined) return `${unpulled} stage has no probe`;
    // The window begins some seconds after midnight, another number for each release. A report from the cache would
    // prove neither queries nor files.
    const digest = createHash('sha256').update(JSON.stringify(versions)).digest();
    const secondsLate = 1 + (digest.readUInt16BE() % 3_600);
    const ask = fetchFromVersions({ ...service, fetch });
    const pull = reportPuller({ config: readProbeConfig(env), fetch: ask, readSecret, now, secondsLate });
    return pull().then(
      (rows) => `${answered}; a report was pulled, with rows: ${rows}`,
      (error: unknown) => {
        if (!(error instanceof TableMissing)) throw error;
        return `${unpulled} lake has no events yet`;
      },
    );
  };

/**
 * Serves the custom resource that stands between new versions and their aliases (`infra/api/release-gate.ts`). Whatever
 * happens, CloudFormation gets an answer. If it says FAILED, CloudFormation takes the deployment back, and updates the
 * gate again, to the properties of before: that must pass, even if nothing works.
 */
export function releaseGate({
  check,
  answer,
  log,
  longestCheckMs = LONGEST_CHECK_MS,
}: {
  readonly check: (properties: Properties) => Promise<string>;
  readonly answer: AnswerStack;
  readonly log: LineLog;
  readonly longestCheckMs?: number;
}) {
  const judge = async (event: GateEvent): Promise<string> => {
    const reason = whyUnchecked(event);
    if (reason !== undefined) return `not checked: ${reason}`;
    const late = once(AbortSignal.timeout(longestCheckMs), 'abort').then(() => {
      throw new Error('The check has not ended in time');
    });
    return Promise.race([check(event.ResourceProperties), late]);
  };
  return async (event: GateEvent): Promise<void> => {
    const began = Date.now();
    const facts = () => ({ requestType: event.RequestType, durationMs: Date.now() - began });
    const verdict = await judge(event).then(
      (outcome): StackAnswer => {
        log.info('release-check', { ...facts(), outcome });
        return { Status: 'SUCCESS', Reason: outcome, Data: { [GATE.outcome]: outcome } };
      },
      (error: unknown): StackAnswer => {
        log.error('release-check', { ...facts(), error });
        const fault = error instanceof Error ? error.message : String(error);
        const reason = `${event.ResourceProperties[GATE.release]} is refused, and no alias has moved: ${fault}`;
        return { Status: 'FAILED', Reason: reason.slice(0, LONGEST_REASON), Data: {} };
      },
    );
    await answer(event, verdict);
  };
}

/** Why a deployment passes without a check. Undefined if it must be checked. */
function whyUnchecked({
  RequestType,
  ResourceProperties: now,
  OldResourceProperties: before = {},
}: GateEvent): string | undefined {
  if (RequestType === 'Delete') return 'the gate is removed';
  if (RequestType === 'Create')
    return 'this deployment made the gate, and may have no partner yet who could pull a report. The next one is checked';
  const versions = versionsIn(before);
  const steps = [...versionsIn(now)].map(([name, number]) => number - (versions.get(name) ?? 0));
  // Lambda gives no number twice, so a lower one is a version of before.
  if (steps.some((step) => step < 0)) return `CloudFormation goes back to ${now[GATE.release]}`;
  if (now[GATE.isOpen] === 'true') return 'it was deployed with -c gate=open';
  return steps.some((step) => step > 0) ? undefined : 'there is no new version';
}

/** The number of each version in a gate's properties, by the function's name. */
const versionsIn = (properties: Properties): ReadonlyMap<string, number> => {
  const arns = Object.entries(properties[GATE.versions] ?? {});
  return new Map(arns.map(([name, arn]) => [name, Number(String(arn).split(':').at(-1))]));
};
