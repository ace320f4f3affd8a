/** The events can't be served as they are. The message is one line: what is wrong, and what would be right. */
export class EventsFault extends Error {
  override readonly name = 'EventsFault';
}
