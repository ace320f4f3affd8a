import { functionParts } from '../lib/handlers/function-parts.ts';
import { RESULTS_PREFIX } from '../lib/names.ts';

const { results, log } = functionParts(process.env);

/** Lambda's record of an event that the function `publish` failed on to the last, as far as it is read here. */
interface GivenUp {
  readonly requestPayload: { readonly detail: { readonly object: { readonly key: string } } };
}

/** Notes that a publication was given up, so that those who wait for it are told. */
export const handler = async ({ requestPayload }: GivenUp): Promise<void> => {
  const { key } = requestPayload.detail.object;
  const name = key.slice(key.lastIndexOf('/') + 1);
  await results.write(`${RESULTS_PREFIX.abandoned}${name}`, { publication: key });
  log.error('abandoned', { publication: key });
};
