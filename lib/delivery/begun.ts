/** A promise that may fail before anybody waits for it: who waits for it later still gets its error. */
export function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
