/** The query failed or was cancelled: an opaque 500 for the caller, the engine's reason for the log. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed';
}
