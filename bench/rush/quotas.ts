import { limitsOfRoutes, type MethodLimit } from '../../infra/api/method-limits.ts';

/** The limits of an account. Each figure is AWS's, cited where it is set, or an assumption that says so. */
export interface Quotas {
  /** API Gateway: of each method whose requests wait, by path and method. */
  readonly methods: ReadonlyMap<string, MethodLimit>;
  /** AWS WAF: requests of one address in five minutes. */
  readonly requestsPerAddress: number;
  /** Cognito: tokens a second. */
  readonly tokens: Rate;
  /** Lambda: executions at a time, of all functions; and which of them are reserved for a function. */
  readonly concurrentExecutions: number;
  readonly reserved: Readonly<Record<string, number>>;
  /** Lambda: new execution environments of one function. */
  readonly newEnvironments: Rate;
  readonly athena: {
    readonly start: Rate;
    readonly get: Rate;
    /** Queued and running. */
    readonly activeQueries: number;
    /** Queries that run at a time; the others are queued in their order. */
    readonly slots: number;
  };
  /** S3: of one prefix. */
  readonly s3: { readonly reads: Rate; readonly writes: Rate };
}

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What does not differ between accounts, and what every account in us-east-1 begins with. */
const COMMON = {
  // Cognito Developer Guide, "Quotas": ClientAuthentication, 150 a second; the burst is assumed to be a second's.
  tokens: { perSecond: 150, burst: 150 },
  // Lambda Developer Guide, "Lambda scaling behavior": 1,000 environments every 10 s, refilled continuously.
  newEnvironments: { perSecond: 100, burst: 1_000 },
  athena: {
    // Athena User Guide, "Service Quotas", per-account API call quotas; active DML queries as in us-east-1.
    start: { perSecond: 20, burst: 80 },
    get: { perSecond: 100, burst: 200 },
    activeQueries: 200,
    slots: 200,
  },
  // S3 User Guide, "Best practices design patterns": of each prefix. The burst is assumed to be a second's.
  s3: { reads: { perSecond: 5_500, burst: 5_500 }, writes: { perSecond: 3_500, burst: 3_500 } },
} as const;

/** The limits that the stage sets itself. */
export interface StageLimits {
  readonly executions: number;
  readonly maxRequestsPerAddress: number;
}

/** An account with the quotas that `docs/deploy.md` asks for. */
export const grownAccount = ({ executions, maxRequestsPerAddress }: StageLimits): Quotas => ({
  ...COMMON,
  methods: limitsOfRoutes(executions),
  requestsPerAddress: maxRequestsPerAddress,
  concurrentExecutions: 1_000,
  reserved: { publish: 5, probe: 1 },
});

/**
 * A new account. Lambda Developer Guide, "Lambda quotas", says that new accounts have less concurrency; 10 has been
 * seen. That is too little to reserve any of it for a function.
 */
export const newAccount = (limits: StageLimits): Quotas => ({
  ...grownAccount(limits),
  concurrentExecutions: 10,
  reserved: {},
});
