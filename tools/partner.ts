/** `npm run partner -- <add|list|show|set|rotate|remove> <stage> <name> …`: the partners of a deployed stage. */
import { reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { partnerCommand } from './partner/partner-command.ts';

await reportingFaults(() => partnerCommand(process.argv.slice(2), say));
