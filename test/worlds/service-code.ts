import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The service's code that the worlds use. It is loaded from one root, which may be a copy with a fault in it. */
export interface ServiceCode {
  readonly reportHandler: typeof import('../../lib/http/report-handler.ts').reportHandler;
  readonly daysHandler: typeof import('../../lib/http/days-handler.ts').daysHandler;
  readonly downloadsHandler: typeof import('../../lib/http/downloads-handler.ts').downloadsHandler;
  readonly publicationHandler: typeof import('../../lib/http/publication-handler.ts').publicationHandler;
  readonly abandonmentHandler: typeof import('../../lib/http/publication-handler.ts').abandonmentHandler;
  readonly athenaQueries: typeof import('../../lib/aws/athena-queries.ts').athenaQueries;
  readonly keepAnswerDates: typeof import('../../lib/aws/answers.ts').keepAnswerDates;
  readonly s3Lake: typeof import('../../lib/aws/s3-lake.ts').s3Lake;
  readonly s3LargeFiles: typeof import('../../lib/aws/large-files.ts').s3LargeFiles;
  readonly s3ResultsBucket: typeof import('../../lib/aws/results-bucket.ts').s3ResultsBucket;
  readonly s3Register: typeof import('../../lib/aws/s3-register.ts').s3Register;
  readonly partnerKey: typeof import('../../lib/access/partner-record.ts').partnerKey;
  readonly readConfig: typeof import('../../lib/config.ts').readConfig;
  readonly publisherReport: typeof import('../../lib/report/catalogue.ts').publisherReport;
}

/** The folders that contain the `lib/` of each release. */
export interface Roots {
  readonly current: string;
  /** Undefined if all machines run the current release. */
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

const ADAPTERS = [
  'aws/athena-queries.ts',
  'aws/large-files.ts',
  'aws/results-bucket.ts',
  'aws/s3-lake.ts',
  'aws/s3-register.ts',
];

const FILES = [
  'http/report-handler.ts',
  'http/days-handler.ts',
  'http/downloads-handler.ts',
  'http/publication-handler.ts',
  'aws/answers.ts',
  ...ADAPTERS,
  'access/partner-record.ts',
  'config.ts',
  'report/catalogue.ts',
];

/** The files of release 1.0.0 that correspond to `FILES`. */
const FILES_OF_1_0_0 = [
  'handlers/report-handler.ts',
  'handlers/days-handler.ts',
  'handlers/downloads-handler.ts',
  'handlers/publication-handler.ts',
  'handlers/abandonment-handler.ts',
  'aws/answer-date.ts',
  ...ADAPTERS,
  'partners/register.ts',
  'config.ts',
  'report/catalogue.ts',
];

/**
 * Loads the service's code. Virtual time must have replaced the clock before, and `seedCryptoAndGzip` must have run.
 *
 * @param root the folder that contains `lib/`
 */
async function loadService(root: string): Promise<ServiceCode> {
  const load = (file: string) => import(pathToFileURL(join(root, 'lib', file)).href);
  const files = existsSync(join(root, 'lib/http')) ? FILES : FILES_OF_1_0_0;
  return Object.assign({}, ...(await Promise.all(files.map(load)))) as ServiceCode;
}
