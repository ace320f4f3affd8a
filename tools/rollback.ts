/** `npm run rollback -- <stage> [<commit>]`: takes a release back, or forward again, by the aliases of its functions. */
import { reportingFaults } from '../lib/terminal/operator-fault.ts';
import { rollbackCommand } from './rollback/rollback-command.ts';

await reportingFaults(() =>
  rollbackCommand(process.argv.slice(2), (...lines) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }),
);
