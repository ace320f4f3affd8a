/** The cluster can't serve the reports. The message is one line: what is wrong, and what would be right. */
export class TrinoFault extends Error {
  override readonly name = 'TrinoFault';
}
