import { computed, signal } from '@preact/signals';
import type { ReaderAnswer, ShownCell, View, ViewResult } from '../reader/reader-messages.ts';
import { askWorker } from '../report-worker.ts';

/** Rows are asked for in blocks. */
const BLOCK_ROWS = 200;
/** The most blocks that are kept: the others are asked for again. */
const MAX_BLOCKS = 40;

const PLAIN: View = { search: '' };

/** The table's view that is chosen; the worker may still be at it. */
export const view = signal<View>(PLAIN);
/** The view whose rows are there to be shown. */
export const viewResult = signal<ViewResult | undefined>(undefined);
/** Rows by block, the first asked for first. */
const blocks = signal<ReadonlyMap<number, readonly (readonly ShownCell[])[]>>(new Map());
const askedBlocks = new Set<number>();

/** Shows the rows otherwise: sorted, searched, cut. */
export function changeView(change: { readonly [Part in keyof View]?: View[Part] | undefined }): void {
  const { sort, search, top } = { ...view.value, ...change };
  view.value = { search: search ?? '', ...(sort && { sort }), ...(top !== undefined && { top }) };
  askWorker({ kind: 'view', view: view.value });
}

/** Begins with the rows of a report, or with none while it is made. */
export function beginView(result: ViewResult | undefined): void {
  view.value = result?.view ?? PLAIN;
  putRows(result);
}

/** Takes what the worker has made of a view, unless another was chosen since. */
export function showView(result: ViewResult): void {
  if (isSame(result.view, view.value)) putRows(result);
}

function putRows(result: ViewResult | undefined): void {
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

/** A row of the view; undefined where it is on its way. */
export function viewRow(index: number): readonly ShownCell[] | undefined {
  const block = Math.floor(index / BLOCK_ROWS);
  const rows = blocks.value.get(block);
  if (!rows && !askedBlocks.has(block)) {
    askedBlocks.add(block);
    askWorker({ kind: 'rows', from: block * BLOCK_ROWS, to: (block + 1) * BLOCK_ROWS });
  }
  return rows?.[index % BLOCK_ROWS];
}

/** Whether the worker is still at the view that was chosen last. */
export const isAtIt = (): boolean =>
  viewResult.value !== undefined && !isSame(viewResult.value.view, view.value);

/** All rows that are here, to measure columns by. */
export const loadedRows = computed(() => [...blocks.value.values()].flat());

const isSame = (one: View, other: View): boolean =>
  one.search === other.search &&
  one.top === other.top &&
  one.sort?.column === other.sort?.column &&
  one.sort?.isDescending === other.sort?.isDescending;
