/** Runs the one-machine service in a process of its own. */
import { serveMeasures } from './measured-process.ts';
import { openReportStack } from './report-stack.ts';

const [eventsDirectory = ''] = process.argv.slice(2);
const service = await openReportStack(eventsDirectory);
serveMeasures(
  {
    apiUrl: service.stack.apiUrl,
    authorization: service.authorization,
    faultsUrl: service.stack.faultsUrl,
  },
  async () => {
    await service[Symbol.asyncDispose]();
  },
);
