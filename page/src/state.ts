import { computed, signal } from '@preact/signals';
import type { Fault } from '../../lib/problems/problem.ts';
import { MAX_WINDOW_DAYS, utcDay } from '../../lib/report/utc-time.ts';
import { lookFromHash } from './answer/look.ts';
import { type Choice, fromHash } from './question/choice.ts';
import { daysBetween, resolveWindow } from './question/presets.ts';
import { chosenReport, faultsOf, parametersOf, urlOf } from './question/request.ts';
import type { Look } from './reader/reader-messages.ts';
import { serviceAddress, serviceFacts } from './service-facts.ts';

/** The currency of all amounts; empty if the service does not report it. */
export const currency = computed(() => serviceFacts.value.currency);

/** Whether the form is unfolded. */
export const isBuilderOpen = signal(false);

export const choice = signal<Choice>(fromHash(location.hash));

/** The newest day that has events; undefined if it is not known. */
export const newestDay = signal<string | undefined>(undefined);

/** The present day in UTC; it changes while the page is open. */
export const today = signal(utcDay(Date.now()));
setInterval(() => (today.value = utcDay(Date.now())), 60_000);

export const report = computed(() => chosenReport(choice.value));
export const days = computed(() =>
  resolveWindow(choice.value.window, { today: today.value, newest: newestDay.value }),
);
/**
 * The days of the window, one by one. The list has at most one day more than a report may have: that day shows that the
 * window is too long.
 */
export const windowDays = computed(() => daysBetween(days.value, MAX_WINDOW_DAYS + 1));
export const parameters = computed(() => parametersOf(choice.value, days.value));
export const requestUrl = computed(() => urlOf(serviceAddress, report.value, parameters.value));

/** The faults that the service found in the last request. They are cleared when the user changes the choice. */
export const answeredFaults = signal<readonly Fault[]>([]);
/**
 * Whether the user has asked for a report of the current choice. If so, the page shows every fault, even at inputs that
 * the user has not touched.
 */
export const isAsked = signal(false);

const ownFaults = computed(() => faultsOf(report.value, parameters.value));
export const faults = computed(() => (ownFaults.value.length > 0 ? ownFaults.value : answeredFaults.value));

/** The faults of one parameter, in words. */
export const faultsAt = (parameter: string): readonly string[] =>
  faults.value.filter((fault) => fault.parameter === parameter).map(({ detail }) => detail);

/** How the user looks at the answer. */
export const look = signal<Look>(lookFromHash(location.hash));

/**
 * Changes parts of the choice. The answer to another question is looked at in the same order and by the same metric, but
 * no search or number hides rows of it.
 */
export function choose(change: Partial<Choice>): void {
  answeredFaults.value = [];
  isAsked.value = false;
  choice.value = { ...choice.value, ...change };
  const { sort } = look.value.view;
  look.value = { ...look.value, view: { search: '', ...(sort && { sort }) } };
}
