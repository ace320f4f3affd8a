import type { StageInput } from './stage.ts';

const apiScope = 'api://performance-reports';
const runbookUrl = 'docs/runbook.md';
const reports = { longestQuerySeconds: 600, downloadUrlSeconds: 300 };

/** Everything that differs between stages. What each setting means is said in `stage.ts`. */
export const stages: Readonly<Record<string, StageInput>> = {
  dev: {
    keepData: false,
    apiScope,
    identity: { provider: 'cognito' },
    entitlements: { by: 'partners' },
    events: { firstDay: '2025-01-01' },
    reports,
    queries: { maxGigabytesScanned: 10 },
    throttling: { requestsPerSecond: 5, burst: 10 },
    maxRequestsPerAddress: 500,
    logDays: 14,
    alarms: { gigabytesScannedPerHour: 20 },
    runbookUrl,
    tags: {},
  },
  prod: {
    keepData: true,
    apiScope,
    identity: { provider: 'cognito' },
    entitlements: { by: 'partners' },
    events: { firstDay: '2025-01-01' },
    reports,
    queries: { maxGigabytesScanned: 100 },
    // Athena starts 20 queries a second for an account (burst 80): more requests than that would only wait.
    throttling: { requestsPerSecond: 20, burst: 40 },
    maxRequestsPerAddress: 1_000,
    logDays: 90,
    alarms: { gigabytesScannedPerHour: 200 },
    runbookUrl,
    tags: {},
  },
};
