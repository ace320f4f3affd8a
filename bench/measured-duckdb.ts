/** Runs DuckDB alone in a process of its own. It makes the reports one after the other and sends what that took. */
import { reports } from '../lib/report/catalogue.ts';
import { openBaselineDuckDb } from './baseline-duckdb.ts';
import { serveMeasures } from './measured-process.ts';
import { type Question, repeated, sqlOf } from './questions.ts';

const WARM_UP = 5;

const [eventsDirectory = '', asked = '[]', rowsAgain = '1'] = process.argv.slice(2);
const questions = (JSON.parse(asked) as Question[]).flatMap((question) =>
  // A question comes as JSON with only the name of its report. The report itself comes from the catalogue.
  reports.filter(({ name }) => name === question.report.name).map((report) => ({ ...question, report })),
);
const duckDb = await openBaselineDuckDb(eventsDirectory);
for (const question of questions.slice(0, WARM_UP)) await duckDb.copy(question);
const before = process.cpuUsage();
const ms: number[] = [];
let bytes = 0;
for (const question of questions) {
  const made = await duckDb.copySql(repeated(sqlOf(question), Number(rowsAgain)));
  ms.push(made.ms);
  bytes += made.bytes;
}
const { user, system } = process.cpuUsage(before);
serveMeasures({ made: JSON.stringify({ ms, cpuMs: (user + system) / 1_000, bytes }) }, async () => {
  await duckDb[Symbol.asyncDispose]();
});
