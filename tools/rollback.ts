/** `npm run rollback -- <stage> [<commit>]`: moves the functions' aliases to an earlier release, or forward again. */
import { reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { rollbackCommand } from './rollback/rollback-command.ts';

await reportingFaults(() => rollbackCommand(process.argv.slice(2), say));
