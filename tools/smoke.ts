/** `npm run smoke -- <stage>`: proves that a deployed stage delivers. It pulls reports, and changes nothing. */
import { reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { smokeCommand } from './smoke/smoke-command.ts';

await reportingFaults(() => smokeCommand(process.argv.slice(2), say));
