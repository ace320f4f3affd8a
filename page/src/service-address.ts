/**
 * The service's address, with a slash at its end. It is the folder above this script's folder, whatever the stage or
 * base path.
 */
export const serviceAddress = new URL('..', import.meta.url).href;

/** The address of a file beside this script. */
export const besideThis = (name: string): URL => {
  const url = new URL(name, import.meta.url);
  // Gives the file's address the same version as this script's address.
  url.search = new URL(import.meta.url).search;
  return url;
};
