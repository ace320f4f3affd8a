import { CHART_AXES } from '../reader/chart-data.ts';
import type { Look } from '../reader/reader-messages.ts';

/** The parameters of the page's address that say how the answer is looked at. Defaults are left out. */
export function lookParameters({ view, chart }: Look): [name: string, value: string][] {
  const { sort, search, top } = view;
  const { metric, by, axis } = chart;
  return [
    ...named('metric', metric),
    // A chart that the user has not split: the empty text.
    ...named('split', by === null ? '' : by),
    ...named('axis', axis),
    ...named('order', sort && `${sort.isDescending ? '-' : ''}${sort.column}`),
    ...named('search', search === '' ? undefined : search),
    ...named('top', top),
  ];
}

const named = (name: string, value: string | number | undefined): [string, string][] =>
  value === undefined ? [] : [[name, String(value)]];

/** Reads the look from the page's address. Ignores what is not a look. */
export function lookFromHash(hash: string): Look {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const [order, split, top] = [query.get('order'), query.get('split'), Number(query.get('top'))];
  return {
    view: {
      search: query.get('search') ?? '',
      ...(order && { sort: { column: order.replace(/^-/, ''), isDescending: order.startsWith('-') } }),
      ...(Number.isSafeInteger(top) && top > 0 && { top }),
    },
    chart: {
      metric: query.get('metric') ?? undefined,
      by: split === '' ? null : (split ?? undefined),
      axis: CHART_AXES.find((axis) => axis === query.get('axis')),
    },
  };
}
