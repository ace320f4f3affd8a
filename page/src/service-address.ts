/** Where the service is, with a slash at its end: two steps up from this script, whatever stage or base path that is. */
export const serviceAddress = new URL('..', import.meta.url).href;

/** The address of a file beside this script. */
export const besideThis = (name: string): URL => {
  const url = new URL(name, import.meta.url);
  // With the same version in the address as this script has.
  url.search = new URL(import.meta.url).search;
  return url;
};
