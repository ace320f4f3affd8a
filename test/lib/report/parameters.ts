/** The query parameters of a window, `2026-01-01/2026-02-01` or with times, and of the fields, if there are any. */
export function parametersOf(window: string, fields?: string): Record<string, string[]> {
  const [start = '', end = ''] = window.split('/').map((at) => (at.includes('T') ? at : `${at}T00:00:00Z`));
  const named = fields === undefined ? {} : { requestedFields: [fields] };
  return { ...named, startInclusive: [start], endExclusive: [end], 'api-version': ['1.0'] };
}
