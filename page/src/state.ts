import { computed, effect, signal } from '@preact/signals';
import type { Fault } from '../../lib/problems/problem.ts';
import { MAX_WINDOW_DAYS } from '../../lib/report/parse-request.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { type Choice, fromHash, toHash } from './question/choice.ts';
import { daysBetween, resolveWindow } from './question/presets.ts';
import { chosenReport, faultsOf, parametersOf, urlOf } from './question/request.ts';
import { serviceAddress } from './service-address.ts';
import { serviceFacts } from './service-facts.ts';

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

/** Changes parts of the choice. */
export function choose(change: Partial<Choice>): void {
  answeredFaults.value = [];
  isAsked.value = false;
  choice.value = { ...choice.value, ...change };
}

// The address holds the choice, so that it can be bookmarked and sent. Going back in the history changes the choice.
effect(() => {
  const hash = `#${toHash(choice.value)}`;
  if (hash !== location.hash) history.replaceState(null, '', hash);
});
addEventListener('hashchange', () => {
  if (location.hash !== `#${toHash(choice.value)}`) choose(fromHash(location.hash));
});
