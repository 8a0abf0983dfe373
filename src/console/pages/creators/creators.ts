import { formatAmounts, formatAtLeast, formatMoney, sumMoney } from '../../../core/money.ts';
import { foldHandle } from '../../../core/text/fold.ts';
import { lastDayOf, monthAfter, monthBefore, monthsUntil } from '../../../core/time/month.ts';
import { listPayments, type Payment } from '../../../money/payments/keep-payments.ts';
import { column, number } from '../../../render/block.ts';
import { type Html, html } from '../../../render/html/html.ts';
import { formatCount, plural } from '../../../render/text.ts';
import { spellingsOf } from '../../../reports/find-handles.ts';
import { type ListedDeal, listDeals } from '../../../reports/list-deals.ts';
import { listOrders } from '../../../reports/list-orders.ts';
import type { Answer } from '../../../reports/lives/answer-order.ts';
import { listReturnParts, listReturns } from '../../../reports/money/list-returns.ts';
import {
  type CreatorStatement,
  countUnknownEarnings,
  listCreatorCodes,
  listCreatorDeals,
  listCreatorMonths,
  listCreatorStatements,
  listNamedDeals,
} from '../../../reports/money/read-creators.ts';
import { describeReturn, explainUnknown } from '../../../reports/money/returns.ts';
import { describePaid, isPaidElsewhere } from '../../../reports/payments/payments.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { sparkline } from '../../markup/bars.ts';
import { readFilter } from '../../markup/filter.ts';
import {
  amountList,
  anchor,
  answerBox,
  creatorLink,
  figure,
  foldedTable,
  missing,
  orderColumns,
  pagedTable,
  table,
} from '../../markup/parts.ts';
import { keyedPageOf } from '../../read-query.ts';
import { RETURN_FIELDS, RETURN_KEY, revenueChart, toReturnFilter, withDeals } from '../money/returns.ts';
import { pdfLink, readRules } from '../money/statements.ts';
import { validity } from './codes.ts';
import { dealColumns } from './deals.ts';

const MONTHS = 12;

/** The creators by the net revenue of the last months. */
export const creatorsPage = definePage('/creators', async (visit) => {
  const asked = readFilter(visit, RETURN_FIELDS);
  const { filter, months } = await toReturnFilter(asked.filter, visit, { count: MONTHS });
  const page = { ...filter, by: 'creator', ...keyedPageOf(visit, RETURN_KEY) } as const;
  const parts = await listReturnParts(visit.db, page);
  const [rows, series] = await Promise.all([
    listReturns(visit.db, { ...page, parts }),
    listCreatorMonths(visit.db, { parts, from: filter.from }),
  ]);
  const from = filter.from ?? series[0]?.month;
  // A row can show three years.
  const shown = filter.to === null ? [] : monthsUntil(filter.to, 36).filter((month) => month >= (from ?? ''));
  return {
    title: 'Creators',
    content: html`<p>Credited orders of ${months}, less refunds and cancellations. In each currency, the most revenue is first.</p>
${asked.form()}
${pagedTable(
  { rows, visit, about: 'Creators', none: 'No order was credited yet.', key: ['currency', 'rank', 'key'] },
  [
    column('Creator', ({ key: creator, name }) =>
      creator === '' ? 'unknown' : anchor(creatorLink(visit, creator), name ?? creator),
    ),
    number('Orders', ({ orders }) => formatCount(orders)),
    number('Net revenue', (sum) => describeReturn(sum).net),
    number('Earned', (sum) => describeReturn(sum).cost),
    column('By month', ({ key: creator, currency: of }) =>
      sparkline(
        shown.map((month) =>
          Number(
            series.find((one) => one.creator === creator && one.month === month && one.currency === of)
              ?.net ?? 0,
          ),
        ),
        `Net revenue in ${of} by month, ${shown[0] ?? ''} to ${shown.at(-1) ?? ''}`,
      ),
    ),
  ],
)}`,
  };
});

const LISTED_MONTHS = 36;
const SHOWN = 100;
/** Deals whose newest orders are shown. */
const DEALS_OF_ORDERS = 5;
const SHOWN_ORDERS = 10;
/** Months, statements and deals in view; older ones are folded. */
const SHOWN_MONTHS = 6;

/** One creator: what they earned, what is pending and paid, by month; their statements, codes, orders and deals. */
export const creatorPage = definePage('/creators/:creator', async (visit) => {
  const { db } = visit;
  const handle = foldHandle(visit.params.creator ?? '');
  const spellings = await spellingsOf(db, handle);
  const creator = { spellings, deals: await listNamedDeals(db, { handle, spellings }) };
  const filter = { from: null, to: null, creator };
  const [months, sums, credited, deals] = await Promise.all([
    listReturns(db, { ...filter, by: 'month', limit: LISTED_MONTHS }),
    listReturns(db, { ...filter, by: 'creator', limit: SHOWN }),
    listCreatorDeals(db, { creator, limit: SHOWN }),
    listDeals(db, { spellings, limit: SHOWN }),
  ]);
  // The mirror may not know a deal whose orders were credited.
  const ids = [...new Set([...deals.map(({ dealId }) => dealId), ...credited])];
  const rules = readRules(visit);
  const last = monthBefore(visit.now, visit.config.statements.timeZone);
  const [codes, unknownOrders, statements, ...orders] = await Promise.all([
    listCreatorCodes(db, { creator: handle, deals: ids, limit: SHOWN }),
    countUnknownEarnings(db, creator),
    listCreatorStatements(db, {
      handle,
      creator,
      limit: SHOWN,
      fees: 'problem' in rules ? null : { rules, month: monthAfter(last) },
    }),
    ...ids.slice(0, DEALS_OF_ORDERS).map((deal) => listOrders(db, { deal, limit: SHOWN_ORDERS })),
  ]);
  const payments = await listPayments(db, { paymentIds: statements.flatMap(({ payments }) => payments) });
  const isKnown = months.length + deals.length + codes.length + statements.length > 0;
  // Orders that the service refused, or that wait, may name somebody whom nothing else knows.
  const named = isKnown
    ? orders.flat()
    : await listOrders(db, { creator: [...spellings, visit.params.creator ?? ''], limit: SHOWN_ORDERS });
  if (!isKnown && named.length === 0)
    return spellings.length === 0
      ? { redirect: visit.link('/search', { q: visit.params.creator }) }
      : missing(handle, 'No deal, no code and no order of this creator is known.');
  const newest = named
    .toSorted((one, other) => other.orderedAt.getTime() - one.orderedAt.getTime())
    .slice(0, SHOWN_ORDERS);
  const unknown = explainUnknown(sums.filter(({ uncostedDeals }) => uncostedDeals.length > 0));
  const why = unknown.length === 0 ? undefined : '#unknown';
  const known = { sums: sums.map(describeReturn), statements, unknownOrders, deals, why };
  return {
    title: sums[0]?.name ?? deals[0]?.influencerHandle ?? handle,
    content: html`${answerBox(answerOf(known, visit), visit)}
${figures(known)}
${'problem' in rules ? html`<p>The open statements are shown without fixed fees.</p>${rules.problem}` : null}
${unknown.length === 0 ? null : html`<p class="notice" id="unknown">${withDeals(unknown, visit)}</p>`}
${monthCharts(months, { creator: handle, visit })}
${foldedTable(
  {
    rows: months
      .toSorted((one, other) => (one.key < other.key ? 1 : one.key > other.key ? -1 : 0))
      .map((sum) => ({ sum, said: describeReturn(sum) })),
    about: 'By month',
    none: 'No order was credited yet.',
    shown: SHOWN_MONTHS,
  },
  [
    column('Month', ({ sum }) =>
      anchor(visit.link('/money', { by: 'deal', handle, from: sum.key, to: sum.key }), sum.key),
    ),
    number('Orders', ({ said }) => said.orders),
    number('Net revenue', ({ said }) => said.net),
    number('Earned', ({ said }) => said.cost),
    number('New customers', ({ said }) => said.newCustomers),
    column('Not known', ({ said }) => said.why),
  ],
)}
<h2>Statements</h2>
${statementTable(statements, { handle, payments, visit })}
<h2>Codes</h2>
${table({ rows: codes, about: 'Codes', none: 'No code names this creator or one of their deals.' }, [
  column('Code', ({ code, jobs: [job] }) => anchor(visit.link('/codes/assign', { job, code }), code)),
  column('Valid', (owner) => validity(owner, visit)),
  column('Jobs', ({ jobs }) => jobs.join(', ')),
])}
<h2>Newest orders <small>${anchor(visit.link('/orders', { creator: handle }), 'All')}</small></h2>
${table({ rows: newest, about: 'Newest orders', none: 'No order was attributed to a deal of this creator.' }, orderColumns(visit))}
<h2>Deals</h2>
${foldedTable({ rows: deals, about: 'Deals', none: 'The mirror knows no deal of this creator.', shown: SHOWN_MONTHS }, dealColumns(visit))}`,
  };
});

type Known = {
  readonly sums: readonly ReturnType<typeof describeReturn>[];
  readonly statements: readonly CreatorStatement[];
  /** Orders in no open statement, because it is unknown what they earn. */
  readonly unknownOrders: number;
  readonly deals: readonly ListedDeal[];
  /** Where the page says why amounts are unknown, and what makes them known. Undefined: it does not. */
  readonly why: string | undefined;
};

/** What a creator asks for: revenue, earned, open and paid. */
function figures({ sums, statements, unknownOrders, deals, why }: Known): Html {
  const open = statements.filter(({ closedAt }) => closedAt === null);
  const closed = statements.filter(({ closedAt }) => closedAt !== null);
  const said = (of: 'net' | 'cost') => (sums.length === 0 ? 'nothing' : sums.map((sum) => sum[of]));
  const total = (list: readonly CreatorStatement[]) =>
    list.length === 0 ? 'nothing' : formatAmounts(list).split(', ');
  const paid = deals.flatMap(({ totalPayouts }) => totalPayouts ?? []);
  const clicks = deals.flatMap(({ totalClicks }) => (totalClicks === null ? [] : [Number(totalClicks)]));
  /** A figure of the service, which may not state it for each of the deals. */
  const stated = (known: number, text: string) => {
    if (known === 0) return 'unknown';
    return known < deals.length ? `at least ${text}` : text;
  };
  const orders = sums.map(({ orders: count }) => count).join(' + ') || '0';
  return html`<div class="figures">
${figure('Net revenue', said('net'), { note: `after refunds, of ${orders} ${orders === '1' ? 'order' : 'orders'}` })}
${figure('Earned', said('cost'), { note: 'commission and fees', href: why })}
${figure('In open statements', unknownOrders === 0 ? total(open) : formatAtLeast(formatAmounts(open), unknownOrders), { href: unknownOrders === 0 ? undefined : why })}
${figure('In closed statements', total(closed), { note: closed[0] === undefined ? undefined : `last ${closed[0].month}` })}
${paid.length === 0 ? null : figure('Paid out', stated(paid.length, formatMoney(sumMoney(paid), null)), { note: "the service's count, in the currency of the account" })}
${deals.length === 0 ? null : figure('Clicks', stated(clicks.length, formatCount(clicks.reduce((sum, one) => sum + one, 0))), { note: "the service's count" })}
</div>
`;
}

/** What is earned and not in a closed statement, and whether it can be paid: months must be over. */
function answerOf({ statements, unknownOrders, why }: Known, visit: Visit): Answer {
  const open = statements.filter(({ closedAt }) => closedAt === null);
  const last = monthBefore(visit.now, visit.config.statements.timeZone);
  const ready = open.filter(({ month }) => month <= last);
  const [first = last] = ready.map(({ month }) => month).toSorted();
  const unknown =
    unknownOrders === 0
      ? ''
      : ` It is unknown what ${plural(unknownOrders, 'order')} ${unknownOrders === 1 ? 'earns' : 'earn'}.`;
  const command = 'npx influencer-sync statement';
  const seeWhy = { label: 'See what makes it known', page: `${visit.path}${why}`, command };
  if (ready.length === 0)
    return {
      text: `${open.length > 0 ? `${formatAmounts(open)} cannot be paid yet: the months are not over.` : statements.length > 0 ? 'All that was earned is in closed statements.' : 'Nothing was earned yet.'}${unknown}`,
      tone: unknown === '' ? 'dim' : 'yellow',
      next: unknown === '' || why === undefined ? null : seeWhy,
    };
  const more = ready.length === open.length ? '' : ` In all open statements: ${formatAmounts(open)}.`;
  return {
    text: `${formatAmounts(ready)} can be closed and paid: the months are over.${more}${unknown}`,
    tone: 'yellow',
    next: visit.may('POST /statements/close')
      ? { label: `Check and close ${first}`, page: `/statements/${first}`, command }
      : null,
  };
}

/** Net revenue by month, one picture for each currency, of the same months. */
function monthCharts(
  months: Awaited<ReturnType<typeof listReturns>>,
  { creator, visit }: { creator: string; visit: Visit },
): Html {
  const known = months.map(({ key }) => key);
  return html`${[...Map.groupBy(months, ({ currency }) => currency)].map(([currency, sums]) => {
    return revenueChart(sums, {
      months: known,
      currency,
      hrefOf: (month) =>
        visit.link('/orders', { outcome: 'credited', creator, from: `${month}-01`, to: lastDayOf(month) }),
    });
  })}`;
}

function statementTable(
  statements: readonly CreatorStatement[],
  { handle, payments, visit }: { handle: string; payments: readonly Payment[]; visit: Visit },
): Html {
  const last = monthBefore(visit.now, visit.config.statements.timeZone);
  // A document has every currency of its deal, so the first of its rows has the link.
  const rows = statements.map((one, index) => {
    const before = statements[index - 1];
    return { ...one, isFirst: before?.month !== one.month || before.dealId !== one.dealId };
  });
  const isClosable = ({ closedAt, month }: CreatorStatement) => closedAt === null && month <= last;
  const closable = new Set(statements.filter(isClosable).map(({ month }) => month));
  return html`${foldedTable(
    {
      rows,
      about: 'Statements',
      none: 'Nothing counts in any statement yet, or no rate is known.',
      shown: SHOWN_MONTHS,
    },
    [
      column('Month', ({ month, dealId }) =>
        anchor(visit.link(`/statements/${month}`, { deal: dealId }), month),
      ),
      column('Deal', ({ dealId }) => (dealId === '' ? 'unknown' : visit.deal(dealId))),
      column('State', ({ closedAt, month }) =>
        closedAt === null
          ? closable.has(month)
            ? 'can be closed'
            : 'open: orders can still be returned'
          : html`closed ${visit.instant(closedAt)}`,
      ),
      number('Orders', ({ orders }) => formatCount(orders)),
      number('Amount', ({ amount, currency }) => amountList([{ amount, currency }])),
      column('Payment', ({ closedAt, month, payments: ids }) =>
        closedAt === null
          ? null
          : describePaid(
              payments.filter(({ paymentId }) => ids.includes(paymentId)),
              { isEarlier: isPaidElsewhere(month, visit.config.statements) },
            ),
      ),
      column('Document', ({ isFirst, isFormer, ...of }) =>
        isFirst ? pdfLink(visit, { ...of, creator: isFormer ? handle : null }) : null,
      ),
    ],
  )}
${closable.size < 2 ? null : html`<p class="dim">The document of a month also has what is open of earlier months, and closing it closes them, too.</p>`}`;
}
