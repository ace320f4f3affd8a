/** Loaded into a process by `--import`: writes into the file `TELL_USED` what the process has used when it ends. */
import { writeFileSync } from 'node:fs';

const file = process.env['TELL_USED'];
const from = performance.now();
if (file)
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const used = {
      seconds: (performance.now() - from) / 1e3,
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      // Linux's VmHWM, in kilobytes.
      peakMb: (maxRSS * 1024) / 1e6,
    };
    writeFileSync(file, JSON.stringify(used));
  });
