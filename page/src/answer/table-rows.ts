import { computed, signal } from '@preact/signals';
import type { ReaderAnswer, ShownCell, View, ViewResult } from '../reader/reader-messages.ts';
import { askHolder } from '../report-worker.ts';
import { look } from '../state.ts';

/** The page asks the worker for rows in blocks of this many. */
const BLOCK_ROWS = 200;
/** The largest number of blocks that the page keeps. If it needs a dropped block, it asks for the block again. */
const MAX_BLOCKS = 40;

/** The view of the table that the user chose last. The worker may still be preparing it. */
export const view = signal<View>({ search: '' });
/** The view whose rows the table shows. */
export const viewResult = signal<ViewResult | undefined>(undefined);
/** The rows that have arrived, by block. The block that arrived first comes first. */
const blocks = signal<ReadonlyMap<number, readonly (readonly ShownCell[])[]>>(new Map());
const askedBlocks = new Set<number>();

/** Changes the order, the search or the number of rows that the table shows. */
export function changeView(change: { readonly [Part in keyof View]?: View[Part] | undefined }): void {
  const { sort, search, top } = { ...view.value, ...change };
  askView({ search: search ?? '', ...(sort && { sort }), ...(top !== undefined && { top }) });
}

/** Asks for the rows of another view, and has the page's address hold it. */
export function askView(next: View): void {
  view.value = next;
  look.value = { ...look.value, view: next };
  askHolder({ kind: 'view', view: next });
}

/** Shows the rows of a new report. If the user has changed the view while it was made, asks for that view. */
export function beginView(result: ViewResult): void {
  view.value = result.view;
  putRows(result);
  if (!isSame(result.view, look.value.view)) askView(look.value.view);
}

/** Shows the view that the worker has prepared, unless the user has chosen another view since then. */
export function showView(result: ViewResult): void {
  if (isSame(result.view, view.value)) putRows(result);
}

function putRows(result: ViewResult): void {
  askedBlocks.clear();
  blocks.value = new Map();
  viewResult.value = result;
}

export function takeViewRows({ view: of, from, rows }: Extract<ReaderAnswer, { kind: 'view-rows' }>): void {
  if (!viewResult.value || !isSame(of, viewResult.value.view)) return;
  const kept = new Map(blocks.value);
  kept.set(from / BLOCK_ROWS, rows);
  for (const block of kept.keys()) {
    if (kept.size <= MAX_BLOCKS) break;
    kept.delete(block);
    askedBlocks.delete(block);
  }
  blocks.value = kept;
}

/** A row of the view; undefined until the row has arrived. */
export function viewRow(index: number): readonly ShownCell[] | undefined {
  const block = Math.floor(index / BLOCK_ROWS);
  const rows = blocks.value.get(block);
  if (!rows && !askedBlocks.has(block)) {
    askedBlocks.add(block);
    askHolder({ kind: 'rows', from: block * BLOCK_ROWS, to: (block + 1) * BLOCK_ROWS });
  }
  return rows?.[index % BLOCK_ROWS];
}

/** Whether the worker is still preparing the view that the user chose last. */
export const isAtIt = (): boolean =>
  viewResult.value !== undefined && !isSame(viewResult.value.view, view.value);

/** All rows that have arrived. The table measures its columns by them. */
export const loadedRows = computed(() => [...blocks.value.values()].flat());

const isSame = (one: View, other: View): boolean =>
  one.search === other.search &&
  one.top === other.top &&
  one.sort?.column === other.sort?.column &&
  one.sort?.isDescending === other.sort?.isDescending;
