import { fieldOf, reportOf } from '../../../lib/report/catalogue.ts';
import { directionOf, grouped, ratioChangeWords, shownChange, shownMetric, shownRatio } from '../format.ts';
import { levelNote, levelOf } from '../levels.ts';
import { ratiosOf } from '../reader/ratios.ts';
import type { Total } from '../reader/reader-messages.ts';
import type { Run } from '../run.ts';
import { currency } from '../state.ts';

/** The totals of the whole file, and their ratios. In a comparison, each of these figures also has its change. */
export function TotalsView({ run: { totals = [], report, choice, compared } }: { readonly run: Run }) {
  const asked = reportOf(report);
  const ratios = ratiosOf(report, choice.fields);
  const known = (name: string) => asked && fieldOf(asked, name);
  const isAmount = (name: string) => known(name)?.type === 'float';
  const level = (name: string) => levelOf(known(name), choice.fields);
  const unit = (name: string) => (isAmount(name) && currency.value !== '' ? ` ${currency.value}` : '');
  const note = asked && levelNote(asked, choice);
  const derived = totals.filter(({ kind }) => kind === 'ratio');
  return (
    <>
      <dl class="totals" aria-label="Totals of the whole file">
        {totals
          .filter(({ kind }) => kind === 'metric')
          .map((total) => (
            <div key={total.of}>
              <dt>
                {total.of}
                {level(total.of) && <span class="dim"> by {level(total.of)}</span>}
              </dt>
              <dd>
                <span class="figure" title={`${grouped(total.sum ?? '')}${unit(total.of)}`}>
                  {shownMetric(total.sum, isAmount(total.of))}
                  <span class="unit">{unit(total.of)}</span>
                </span>
                {compared && <Before total={total} isAmount={isAmount(total.of)} />}
              </dd>
            </div>
          ))}
      </dl>
      {note && <p class="note">{note}</p>}
      {derived.length > 0 && (
        <dl class="ratios" aria-label="Ratios of the totals, derived by this page">
          {derived.map((total) => {
            const ratio = ratios.find(({ name }) => name === total.of);
            return (
              ratio && (
                <div key={total.of}>
                  <dt title={ratio.meaning}>{total.of}</dt>
                  <dd title={total.sum ?? ''}>
                    {shownRatio(total.sum, ratio.unit)}
                    {ratio.unit === 'amount' && total.sum !== null && currency.value !== ''
                      ? ` ${currency.value}`
                      : ''}
                    {total.before !== undefined && (
                      <span class="hint" title={total.before ?? ''}>
                        {' '}
                        ({ratioChangeWords(total.change ?? null, total.before, ratio.unit)})
                      </span>
                    )}
                  </dd>
                </div>
              )
            );
          })}
        </dl>
      )}
    </>
  );
}

/** The total of the period before, and the change. If there is nothing to compare with, says so in words. */
function Before({ total, isAmount }: { readonly total: Total; readonly isAmount: boolean }) {
  const { before, change, percent } = total;
  if (before === undefined) return <span class="before">no data before</span>;
  if (before === null) return <span class="before">no rows before</span>;
  const shown = shownChange(change ?? null, isAmount);
  return (
    <span class="before">
      <span title={grouped(change ?? '')} class={directionOf(shown)}>
        {shown}
        {percent === null || percent === undefined ? '' : ` (${shownChange(percent, false)} %)`}
      </span>{' '}
      <span title={grouped(before)}>from {shownMetric(before, isAmount)}</span>
    </span>
  );
}
