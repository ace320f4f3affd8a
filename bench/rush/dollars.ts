import type { Outcome } from './simulate.ts';

/** A report reads half of the bytes of each day. A day has 0.125 GB. Both are the assumptions of `docs/deploy.md`. */
const GIGABYTES_A_DAY = 0.125 / 2;

/** List prices of us-east-1 in US dollars, as in `docs/deploy.md`, "What a month costs". */
export function dollars({ pulled, queries, lambda, calls, admitted, tokens }: Outcome) {
  const daysOf = new Map(pulled.map(({ report }) => [report.id, report.days]));
  const days = queries.reduce((sum, { report }) => sum + (daysOf.get(report) ?? 0), 0);
  const count = (name: string) => calls.get(name) ?? 0;
  const requests = pulled.reduce((sum, each) => sum + each.requests, 0);
  return {
    athena: (days * GIGABYTES_A_DAY * 5) / 1_000,
    lambda: lambda.gigabyteSeconds * 0.0000133334 + lambda.invocations * 0.2e-6,
    s3:
      (count('PutObject') + count('ListObjectsV2')) * 5e-6 +
      (count('GetObject') + count('HeadObject')) * 0.4e-6,
    gateway: admitted * 3.5e-6,
    firewall: requests * 0.6e-6,
    cognito: tokens * 2.25e-3,
  };
}
