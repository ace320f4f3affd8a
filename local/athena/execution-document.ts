import type { QueryExecutionState } from '@aws-sdk/client-athena';
import type { Execution } from './executions.ts';

/** An execution as GetQueryExecution describes it. Times are seconds since 1970, as in JSON 1.1. */
export function executionDocument({ id, request, outputLocation, ...progress }: Execution): object {
  return {
    QueryExecutionId: id,
    Query: request.sql,
    StatementType: 'DML',
    SubstatementType: 'SELECT',
    ResultConfiguration: { OutputLocation: outputLocation },
    ResultReuseConfiguration: { ResultReuseByAgeConfiguration: { Enabled: false } },
    QueryExecutionContext: { Database: request.database, Catalog: request.catalog },
    ...(request.parameters.length > 0 && { ExecutionParameters: request.parameters }),
    Status: statusOf(progress),
    Statistics: statisticsOf(progress),
    WorkGroup: request.workgroup,
    EngineVersion: {
      SelectedEngineVersion: 'AUTO',
      EffectiveEngineVersion: 'Athena engine version 3',
    },
  };
}

type Progress = Omit<Execution, 'id' | 'request' | 'outputLocation'>;

function statusOf({ submittedAt, startedAt, ended }: Progress): object {
  const state: QueryExecutionState = ended?.state ?? (startedAt === undefined ? 'QUEUED' : 'RUNNING');
  return {
    State: state,
    SubmissionDateTime: submittedAt / 1000,
    ...(ended && { CompletionDateTime: ended.at / 1000 }),
    ...(ended?.state === 'CANCELLED' && { StateChangeReason: ended.reason }),
    ...(ended?.state === 'FAILED' && {
      StateChangeReason: ended.failure.message,
      AthenaError: {
        ErrorCategory: ended.failure.category,
        ErrorType: ended.failure.type,
        ErrorMessage: ended.failure.message,
        Retryable: ended.failure.retryable,
      },
    }),
  };
}

function statisticsOf({ submittedAt, startedAt, ended, figures }: Progress): object {
  const until = ended?.at ?? Date.now();
  return {
    DataScannedInBytes: figures.bytesScanned,
    EngineExecutionTimeInMillis: Math.round(figures.engineMs),
    QueryPlanningTimeInMillis: Math.round(figures.planningMs),
    QueryQueueTimeInMillis: (startedAt ?? until) - submittedAt,
    ServiceProcessingTimeInMillis: Math.round(figures.publishingMs),
    TotalExecutionTimeInMillis: until - submittedAt,
    ResultReuseInformation: { ReusedPreviousResult: false },
  };
}
