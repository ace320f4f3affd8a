/** Replaced by the handler of the new delivery. */
export const handler = async (): Promise<void> => {};
