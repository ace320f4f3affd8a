/** `npm run doctor -- <stage>`: prints which limit a stage reaches first, and what to mend. It changes nothing. */

import { reportingFaults } from '../lib/terminal/operator-fault.ts';
import { doctorCommand } from './doctor/doctor-command.ts';

await reportingFaults(() =>
  doctorCommand(process.argv.slice(2), (...lines) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }),
);
