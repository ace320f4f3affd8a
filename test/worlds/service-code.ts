import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What the worlds use of the service: all of it is loaded from one root, which may be a copy with a fault in it. */
export interface ServiceCode {
  readonly reportHandler: typeof import('../../lib/http/report-handler.ts').reportHandler;
  readonly downloadsHandler: typeof import('../../lib/http/downloads-handler.ts').downloadsHandler;
  readonly publicationHandler: typeof import('../../lib/http/publication-handler.ts').publicationHandler;
  readonly abandonmentHandler: typeof import('../../lib/http/publication-abandoned-handler.ts').abandonmentHandler;
  readonly call: typeof import('../../lib/aws/call.ts').call;
  readonly s3Register: typeof import('../../lib/aws/s3-register.ts').s3Register;
  readonly partnerKey: typeof import('../../lib/access/register.ts').partnerKey;
  readonly readConfig: typeof import('../../lib/config.ts').readConfig;
  readonly publisherReport: typeof import('../../lib/report/catalogue.ts').publisherReport;
}

/** The folders in which `lib/` lies: this release's and, unless all machines run this one, that of the release before. */
export interface Roots {
  readonly current: string;
  readonly before?: string | undefined;
}

/** The code that the machines of a world run. */
export interface Releases {
  readonly current: ServiceCode;
  readonly before: ServiceCode | undefined;
}

export const loadReleases = async ({ current, before }: Roots): Promise<Releases> => ({
  current: await loadService(current),
  before: before === undefined ? undefined : await loadService(before),
});

const FILES = [
  'http/report-handler.ts',
  'http/downloads-handler.ts',
  'http/publication-handler.ts',
  'http/publication-abandoned-handler.ts',
  'aws/call.ts',
  'aws/s3-register.ts',
  'access/register.ts',
  'config.ts',
  'report/catalogue.ts',
];

/** Where release 1.0.0 has the same. */
const FILES_OF_1_0_0 = [
  'handlers/report-handler.ts',
  'handlers/downloads-handler.ts',
  'handlers/publication-handler.ts',
  'handlers/abandonment-handler.ts',
  'aws/call.ts',
  'aws/s3-register.ts',
  'partners/register.ts',
  'config.ts',
  'report/catalogue.ts',
];

/**
 * Loads the service's code. Virtual time, seeded ids and gzip must be in place before.
 *
 * @param root the folder in which `lib/` lies
 */
async function loadService(root: string): Promise<ServiceCode> {
  const load = (file: string) => import(pathToFileURL(join(root, 'lib', file)).href);
  const files = existsSync(join(root, 'lib/http')) ? FILES : FILES_OF_1_0_0;
  return Object.assign({}, ...(await Promise.all(files.map(load)))) as ServiceCode;
}
