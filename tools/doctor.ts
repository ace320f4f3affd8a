/** `npm run doctor -- <stage>`: which quota limits a stage first, and what else to mend. It changes nothing. */

import { reportingFaults } from '../lib/terminal/operator-fault.ts';
import { doctorCommand } from './doctor/doctor-command.ts';

await reportingFaults(() =>
  doctorCommand(process.argv.slice(2), (...lines) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }),
);
