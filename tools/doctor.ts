/** `npm run doctor -- <stage>`: which quota limits a stage first, and what else to mend. It changes nothing. */
import { doctorCommand } from './doctor/doctor-command.ts';
import { reportingFaults } from './operator-fault.ts';

await reportingFaults(() =>
  doctorCommand(process.argv.slice(2), (...lines) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }),
);
