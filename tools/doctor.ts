/** `npm run doctor -- <stage>`: which quota limits a stage first, and how to raise it. It changes nothing. */
import { doctorCommand } from './doctor/doctor-command.ts';
import { reportingFaults } from './operator-fault.ts';

await reportingFaults(() =>
  doctorCommand(process.argv.slice(2), (...lines) => {
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }),
);
