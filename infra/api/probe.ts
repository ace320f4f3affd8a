import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { METRIC_NAMESPACE } from '../../lib/metric-names.ts';
import { ENV, PROBE_ENV } from '../../lib/names.ts';
import type { Stage } from '../stage.ts';
import { makeLambdaFunction } from './lambda-function.ts';
import type { ServiceResources } from './permissions.ts';
import { PROBE_TIMEOUT_SECONDS } from './timeouts.ts';

/** Of its file in `functions/` and of its bundle's folder. */
export const PROBE = 'probe';

/** How the probe requests tokens, as a partner does. */
export interface ProbeClient {
  readonly tokenUrl: string;
  /** Of the secret that holds its `clientId` and `clientSecret`. */
  readonly secretArn: string;
}

export interface ProbeProps {
  readonly code: Code;
  readonly service: ServiceResources;
  readonly stage: Pick<Stage, 'apiScope' | 'logDays'>;
  readonly everyMinutes: number;
  readonly client: ProbeClient;
  readonly serviceUrl: string;
  readonly reservedConcurrency: number | undefined;
}

/** Pulls a report on a schedule, from outside, as a partner does. */
export function makeProbe(scope: Construct, props: ProbeProps): void {
  const { code, service, stage, everyMinutes, client, serviceUrl, reservedConcurrency } = props;
  const probe = makeLambdaFunction(
    scope,
    {
      name: PROBE,
      description: 'Pulls a report as a partner does, and tells whether it came',
      timeoutSeconds: PROBE_TIMEOUT_SECONDS,
      memoryMb: 256,
      permissions: () => [
        {
          sid: 'ReadProbeClient',
          actions: ['secretsmanager:GetSecretValue'],
          resources: [client.secretArn],
        },
      ],
    },
    {
      code,
      service,
      reservedConcurrency,
      logDays: stage.logDays,
      environment: {
        [ENV.apiScope]: stage.apiScope,
        [PROBE_ENV.serviceUrl]: serviceUrl,
        [PROBE_ENV.tokenUrl]: client.tokenUrl,
        [PROBE_ENV.clientSecretId]: client.secretArn,
        POWERTOOLS_SERVICE_NAME: service.names.service,
        POWERTOOLS_METRICS_NAMESPACE: METRIC_NAMESPACE,
        NODE_OPTIONS: '--enable-source-maps',
      },
    },
  );
  new Rule(scope, 'ProbeSchedule', {
    description: 'Starts the probe',
    schedule: Schedule.rate(Duration.minutes(everyMinutes)),
    // No retries: the next run comes soon enough.
    targets: [new LambdaFunction(probe, { retryAttempts: 0 })],
  });
}
