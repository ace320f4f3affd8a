import { limitsOfRoutes, type MethodLimit } from '../../infra/api/method-limits.ts';

/** The limits of an account. Comments cite AWS's documentation, or say that a figure is assumed. */
export interface Quotas {
  /** API Gateway: the limit of each method, by path and method, as in `<path>/GET`. */
  readonly methods: ReadonlyMap<string, MethodLimit>;
  /** AWS WAF: the most requests of one address in five minutes. */
  readonly requestsPerAddress: number;
  /** Cognito: tokens a second. */
  readonly tokens: Rate;
  /** Lambda: executions of all functions at a time. */
  readonly concurrentExecutions: number;
  /** Lambda: executions that are reserved for a function, by the function's name. */
  readonly reserved: Readonly<Record<string, number>>;
  /** Lambda: the rate at which one function may get new execution environments. */
  readonly newEnvironments: Rate;
  readonly athena: {
    readonly start: Rate;
    readonly get: Rate;
    /** The most queries that may be queued or running. */
    readonly activeQueries: number;
    /** The most queries that run at a time. The others are queued in the order of their start. */
    readonly slots: number;
  };
  /** S3: requests to one prefix. */
  readonly s3: { readonly reads: Rate; readonly writes: Rate };
}

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Quotas that are equal in all accounts, or that every account in us-east-1 begins with. */
const COMMON = {
  // Cognito Developer Guide, "Quotas": ClientAuthentication, 150 a second. The burst is assumed to be equal.
  tokens: { perSecond: 150, burst: 150 },
  // Lambda Developer Guide, "Lambda scaling behavior": 1,000 environments every 10 s, refilled continuously.
  newEnvironments: { perSecond: 100, burst: 1_000 },
  athena: {
    // Athena User Guide, "Service Quotas": API calls of an account, and active DML queries in us-east-1.
    start: { perSecond: 20, burst: 80 },
    get: { perSecond: 100, burst: 200 },
    activeQueries: 200,
    slots: 200,
  },
  // S3 User Guide, "Best practices design patterns": requests to one prefix. The burst is assumed to be equal.
  s3: { reads: { perSecond: 5_500, burst: 5_500 }, writes: { perSecond: 3_500, burst: 3_500 } },
} as const;

/** The limits that a stage sets itself. */
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
 * A new account. Lambda Developer Guide, "Lambda quotas", says that new accounts have less concurrency. An account with
 * only 10 has been seen. An account with 10 can't reserve executions for a function.
 */
export const newAccount = (limits: StageLimits): Quotas => ({
  ...grownAccount(limits),
  concurrentExecutions: 10,
  reserved: {},
});
