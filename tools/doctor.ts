/** `npm run doctor -- <stage>`: prints which limit a stage reaches first, and what to mend. It changes nothing. */
import { reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { doctorCommand } from './doctor/doctor-command.ts';

await reportingFaults(() => doctorCommand(process.argv.slice(2), say));
