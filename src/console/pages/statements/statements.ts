import { formatMoney } from '../../../core/money.ts';
import { isMonth, monthBefore } from '../../../core/time/month.ts';
import { listOpenMonths, listStatements } from '../../../money/sum-statement.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { listStatementMails } from '../../../reports/money/statement-mails.ts';
import { definePage } from '../../console-page.ts';
import { anchor, instant, pagedTable, table } from '../../markup/parts.ts';
import { PAGE_ROWS, textOf } from '../../read-query.ts';

const PATH = '/statements';

/** Page that lists the open months with something to pay and the closed statements, and opens the statement of any month. */
export const statementsPage = definePage(PATH, async (visit) => {
  const chosen = textOf(visit, 'month');
  if (chosen !== null && isMonth(chosen)) return { redirect: visit.link(`${PATH}/${chosen}`) };
  const after = textOf(visit, 'after');
  const rows = await listStatements(visit.db, {
    limit: PAGE_ROWS + 1,
    after: after !== null && isMonth(after) ? after : null,
  });
  const open = after === null ? await listOpenMonths(visit.db, { limit: PAGE_ROWS }) : [];
  const unclear = await listStatementMails(visit.db, { state: 'unclear', limit: PAGE_ROWS });
  const { timeZone } = visit.config.statements;
  const last = monthBefore(visit.now, timeZone);
  const month = (label: string) => anchor(visit.link(`${PATH}/${label}`), label);
  return {
    title: 'Statements',
    content: html`<p>What each deal earned in a month, net of refunds and cancellations. The last month that is over is ${month(last)}; days are those of ${timeZone}.</p>
<form class="filter" method="get" action="${visit.link(PATH)}" role="search" aria-label="Open a month">
<label>Month <input type="text" name="month" placeholder="2026-10" pattern="\d{4}-(0[1-9]|1[0-2])" required></label>
<button type="submit">Open</button>
</form>
${unclear.length === 0 ? null : html`<p class="notice red" role="alert">Unclear whether these mails arrived: ${unclear.map(({ month: label, dealId }, index) => html`${index === 0 ? '' : ', '}${anchor(visit.link(`${PATH}/${label}/document`, { deal: dealId }), `${label} for deal ${dealId}`)}`)}.</p>`}
<h2>Open</h2>
<p>As of the last refresh of the reports. The statement of a month adds fixed fees, and what earlier months that are still open contain.</p>
${table({ rows: open, about: 'Open months', none: 'No open month has an order that counts.' }, [
  column('Month', ({ month: label }) => month(label)),
  column('State', ({ month: label }) =>
    label <= last ? 'can be closed' : 'not over: orders can still be returned',
  ),
  number('Orders', ({ orders }) => formatCount(orders)),
  number('Commission', ({ amount, currency }) => formatMoney(amount, currency)),
])}
<h2>Closed</h2>
<p>A closed statement never changes. To check that, run <code>npx influencer-sync statement verify</code>.</p>
${pagedTable({ rows, visit, about: 'Closed statements', none: 'No statement is closed yet.', key: 'month' }, [
  column('Month', ({ month: label }) => month(label)),
  number('Lines', ({ lines }) => formatCount(lines)),
  column('Closed', ({ at }) => instant(at, visit)),
  column('Who', ({ by }) => by),
  column('Why', ({ reason }) => reason),
  column('SHA-256', ({ hash }) => html`<code>${hash.slice(0, 12)}</code>`),
])}`,
  };
});
