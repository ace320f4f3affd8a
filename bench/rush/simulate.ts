import { settingsOf } from '../../lib/function-settings.ts';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { takeOverTime } from '../../test/worlds/virtual-time.ts';
import { type Pulled, pull } from './client.ts';
import { type EngineQuery, modelledAthena } from './modelled-athena.ts';
import { type ModelledLambda, modelledLambda } from './modelled-lambda.ts';
import { modelledS3 } from './modelled-s3.ts';
import { modelledService, type ServiceSettings } from './modelled-service.ts';
import type { Quotas } from './quotas.ts';
import { type PlannedReport, SMALL_RESULT_BYTES } from './workload.ts';

/** When the rush begins: 06:00 UTC. */
export const SIX = Date.UTC(2026, 1, 2, 6);
const TODAY = Date.UTC(2026, 1, 2);

/** How often the probe of the stage `prod` runs. */
const PROBE_EVERY_MS = 15 * 60_000;
/** The memory of the probe's function. */
const PROBE_MB = 256;

/** The report that the probe pulls: a small one for yesterday. The probe acts as a partner of its own. */
const probeReport = (id: number): PlannedReport => ({
  ...{ id, partner: -1, atMs: 0, queryMs: 2_000, days: 1, resultBytes: SMALL_RESULT_BYTES },
});

export interface Simulation {
  readonly reports: readonly PlannedReport[];
  readonly quotas: Quotas;
  readonly settings: ServiceSettings;
  readonly seed: number;
  /** When jobs give up, in milliseconds since the rush began. */
  readonly untilMs: number;
}

export interface Outcome {
  readonly pulled: readonly Pulled[];
  readonly queries: readonly EngineQuery[];
  readonly lambda: ModelledLambda['figures'];
  /** How often the probe pulled its report, and how often it was throttled or had no report in time. */
  readonly probe: { readonly pulled: number; readonly missed: number };
  /** The number of calls to Athena and S3, by operation. */
  readonly calls: ReadonlyMap<string, number>;
  /** Requests that passed the gateway. */
  readonly admitted: number;
  readonly tokens: number;
}

/**
 * Simulates a rush in virtual time. It replaces the process's clock for good, so the process may only run further
 * simulations afterwards, one after another.
 */
export async function simulate({ reports, quotas, settings, seed, untilMs }: Simulation): Promise<Outcome> {
  const time = takeOverTime(SIX, seed);
  const s3 = modelledS3(time, quotas, {
    onCreated: (key) => {
      if (key.startsWith(RESULTS_PREFIX.publications)) void service.publish(key);
    },
  });
  const byId = new Map(reports.map((report) => [report.id, report]));
  const probed = probeReport(reports.length + 1);
  const athena = modelledAthena(time, quotas, s3, (id) => byId.get(id) ?? probed);
  const lambda = modelledLambda(time, quotas);
  const service = modelledService(time, quotas, settings, { s3, athena, lambda });
  const tokens = new Map<number, Promise<void>>();
  let asked = 0;
  const takeToken = async () => {
    for (;;) {
      asked += 1;
      if (await service.token()) return;
      await time.delay(1_000 * (0.5 + Math.random()));
    }
  };
  const pulls = reports.map(async (report) => {
    await time.delay(report.atMs);
    const token = tokens.get(report.partner) ?? takeToken();
    tokens.set(report.partner, token);
    await token;
    return pull(time, { service, s3 }, report, { six: SIX, today: TODAY, untilMs });
  });
  const probe = { pulled: 0, missed: 0 };
  void (async () => {
    for (;;) {
      const done = await lambda.invoke('probe', PROBE_MB, async () => {
        const { doneMs } = await pull(time, { service, s3 }, probed, {
          ...{ six: SIX, today: TODAY },
          untilMs: time.now() - SIX + settingsOf('probe').timeoutSeconds * 1_000,
        });
        return doneMs !== undefined;
      });
      probe[done ? 'pulled' : 'missed'] += 1;
      await time.delay(PROBE_EVERY_MS);
    }
  })();
  let isDone = false;
  const all = Promise.all(pulls).then((pulled) => {
    isDone = true;
    return pulled;
  });
  await time.run(() => isDone);
  return {
    pulled: await all,
    queries: [...athena.queries.values()],
    lambda: lambda.figures,
    probe,
    calls: new Map([...athena.calls, ...s3.calls]),
    admitted: service.admitted(),
    tokens: asked,
  };
}
