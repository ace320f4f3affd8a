/**
 * `npm run explain -- <stage|local> --token - [<url>]`: shows how the service would judge the token in the standard input
 * and answer a request with it. It starts no query and prints no secret. npm prints a command line, and the shell keeps
 * it, so a token there is refused.
 */
import { text } from 'node:stream/consumers';
import { functionDependencies } from '../lib/http/function-dependencies.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { OperatorFault, reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { type AskedReport, explainRequest, readUrl } from './explain/explain-request.ts';
import { checkToken, describeToken, explainRows, readToken } from './explain/explain-token.ts';
import { localEnvironment, stageEnvironment } from './explain/service-environment.ts';
import { parseOptions, TEXT, wordsOf } from './parse-options.ts';

const USAGE =
  'npm run explain -- <stage|local> --token - [<url of a report>], and the token in the standard input:\n' +
  '  printenv TOKEN | npm run explain -- …';

/** How long the few small calls to AWS may take together. */
const PATIENCE_MS = 30_000;

await reportingFaults(async () => {
  const { values, positionals } = parseOptions(process.argv.slice(2), { token: TEXT });
  const [stage, url] = wordsOf(positionals, USAGE, 2);
  if (values.token === undefined) throw new OperatorFault(USAGE);
  if (values.token !== '-')
    throw new OperatorFault(`npm has just shown the token, and the shell keeps it: take --token -\n${USAGE}`);
  const asked: AskedReport | undefined = url === undefined ? undefined : readUrl(url);
  const token = (await text(process.stdin)).trim();
  const parsed = readToken(token);
  if (!parsed) throw new OperatorFault('The token is no JWT: three parts with dots between.');

  const environment =
    stage === 'local'
      ? await localEnvironment()
      : await stageEnvironment(stage, asked?.report.name ?? publisherReport.name);
  const { config, backendsUntil } = functionDependencies(environment);
  say(...describeToken(parsed));
  const check = await checkToken(token, config.token, Date.now());
  if ('refused' in check) return void say(`refused     ${check.refused}`);
  say('signature, expiry and scope are good', `rows by     ${config.entitlements.by}`);

  const backends = backendsUntil(Date.now() + PATIENCE_MS);
  const { lines, verdicts } = await explainRows(check.claims, config, backends.register);
  say(...lines);
  const verdict = asked && verdicts.get(asked.report.name);
  if (asked && verdict?.state === 'entitled')
    say(...(await explainRequest(asked, verdict.entitlement, backends, config)));
});
