import { thisProcess } from '../../local/run-folder.ts';
import type { StackFacts } from '../../local/stack-file.ts';

/** The facts of a stack file. Its process is the test's own, so the stack counts as running. */
export const stackFacts: StackFacts = {
  apiUrl: 'http://127.0.0.1:8080',
  tokenUrl: 'http://127.0.0.1:1/token',
  clientId: 'house',
  clientSecret: 'house-secret',
  scope: 'api://performance-reports/.default',
  storageUrl: 'http://127.0.0.2:1',
  athenaUrl: 'http://127.0.0.1:1',
  faultsUrl: 'http://127.0.0.1:1/faults',
  clients: [],
  ...thisProcess('0'.repeat(16)),
  environment: {},
};
