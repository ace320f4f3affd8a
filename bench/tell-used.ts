/** Is loaded by `--import`. When the process ends, writes its time, CPU and memory to the file in `TELL_USED`. */
import { writeFileSync } from 'node:fs';

const file = process.env['TELL_USED'];
const from = performance.now();
if (file)
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const used = {
      seconds: (performance.now() - from) / 1e3,
      cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
      // `maxRSS` is Linux's VmHWM in kilobytes.
      peakMb: (maxRSS * 1024) / 1e6,
    };
    writeFileSync(file, JSON.stringify(used));
  });
