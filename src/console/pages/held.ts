import { HELD_REASONS, heldReason } from '../../core/held/held-order.ts';
import { formatKnown, formatSums } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { findObstacle } from '../../decisions/decide-held.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html, prose } from '../../render/html/html.ts';
import { formatCount, plural } from '../../render/text.ts';
import {
  describeReason,
  formatPosted,
  joinCurrencies,
  sayDecided,
  sayHeld,
} from '../../reports/held/describe-held-orders.ts';
import {
  countHeld,
  digestHeld,
  type HeldFilter,
  type HeldGroup,
  listHeldGroups,
  listHeldOrders,
} from '../../reports/held/held-orders.ts';
import { findOrderIds } from '../../reports/lives/explain-order.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm, notOffered } from '../markup/action-form.ts';
import { byText, byWord, readFilter } from '../markup/filter.ts';
import { anchor, pagedTable, table } from '../markup/parts.ts';
import { PAGE_ROWS } from '../read-query.ts';

const PATH = '/held';

/**
 * Page of held orders: why each group is held and how much money it is. A group that was chosen shows its orders, and
 * the two decisions about all of them.
 */
export const heldPage = definePage(PATH, async (visit) => {
  const asked = readFilter(visit, {
    job: byText('Job', Object.keys(visit.config.jobs)),
    source: byText('Source', Object.keys(visit.config.sources)),
    why: byWord('Held because', Object.keys(HELD_REASONS)),
    status: byText('Status or word'),
    order: byText('Order'),
  });
  const { why: reason, status: word, order, ...of } = asked.filter;
  const orderIds = order === null ? null : await findOrderIds(visit.db, order);
  const filter: HeldFilter = { ...of, reason, status: readStatus(word), orderIds };
  // First: what changes while the rest is read makes the forms those of other orders.
  const forms =
    of.source !== null && reason !== null && (orderIds?.length ?? 1) === 1
      ? await heldForms(visit, { ...filter, isDecided: false })
      : null;
  const groups = await listHeldGroups(visit.db, filter);
  return {
    title: 'Held orders',
    content: html`<p>These orders name an influencer, but something that decides about their credit is not known. They are not posted until better data or your decision settles it.</p>
${asked.form()}
${pagedTable(
  { rows: joinCurrencies(groups), visit, about: 'Held orders by reason', none: 'No order is held.' },
  [
    column('Source', ({ source }) => source),
    column('Held because', (group) => anchor(visit.link(PATH, heldQuery(group)), describeReason(group))),
    number('Orders', ({ orders }) => formatCount(orders)),
    number('Amount', ({ of }) => formatSums(of)),
    number('Posted before', ({ sent, of }) =>
      sent === 0 ? '' : `${formatCount(sent)}, ${formatPosted(of)}`,
    ),
    column('What to do', ({ reason, status, decision }) => {
      const { what, fix } = heldReason(reason, status);
      return prose(sayDecided(decision) ?? `${what}. ${fix}`);
    }),
    column('Job', ({ job }) => job),
  ],
)}
${forms !== null && groups.length > 0 ? await chosen(visit, { filter, groups, forms }) : null}`,
  };
});

/** Stands for orders without a status in an address. It is no folded word, so no status is like it. */
const NO_STATUS = '(none)';

/** Reads the status of an address or a form. Null: any reason. */
export function readStatus(text: string | null): string | null {
  return text === NO_STATUS ? '' : text;
}

/** The query of the address that shows a group. */
export function heldQuery({ job, source, reason, status }: HeldFilter): Readonly<Record<string, string>> {
  return {
    ...(job == null ? {} : { job }),
    source: source ?? '',
    why: reason ?? '',
    ...(status == null ? {} : { status: status === '' ? NO_STATUS : status }),
  };
}

async function chosen(
  visit: Visit,
  { filter, groups, forms }: { filter: HeldFilter; groups: readonly HeldGroup[]; forms: Html },
): Promise<Html> {
  const orders = await listHeldOrders(visit.db, { ...filter, limit: PAGE_ROWS });
  const all = countHeld(groups);
  return html`<h2>${plural(all, 'order')} <small>${anchor('#decide', 'Decide about them')}</small></h2>
${table({ rows: orders, about: 'Held orders of this reason', visit, none: 'None.' }, [
  column('Order', ({ source, orderId }) => visit.order({ source, orderId })),
  column('Carries', ({ carries }) => carries),
  column('Placed', ({ placedAt }) => (placedAt === null ? 'unknown' : visit.instant(placedAt))),
  number('Amount', ({ amount, currency }) => formatKnown(amount, currency)),
  column('Stated in', ({ uri, line }) => `${fileName(uri)} line ${formatCount(line)}`),
  column('Decision', ({ decision }) => sayDecided(decision) ?? 'none yet'),
])}
${all > orders.length ? html`<p>The first ${formatCount(orders.length)} are shown. A decision is about all of them that wait for one.</p>` : null}
${['ambiguous_codes', 'ambiguous_links', 'link_and_code'].includes(filter.reason ?? '') ? html`<p>${anchor(visit.link('/money/conflicts'), 'Compare whom each rule would credit')}. The page of each order leads to its codes. Exclude only orders for which no creator may be credited.</p>` : null}
<section id="decide">${forms}</section>`;
}

/** The two decisions about all orders of a filter, exactly as they are now, and what these come to. */
export async function heldForms(visit: Visit, filter: HeldFilter): Promise<Html> {
  const shown = await digestHeld(visit.db, filter);
  const groups = await listHeldGroups(visit.db, filter);
  const all = countHeld(groups);
  if (all === 0) return html`<p>None of these orders waits for a decision.</p>`;
  if (!visit.may('POST /held/decide'))
    return html`<p>${sayHeld(groups)}. ${notOffered(visit, 'POST /held/decide', 'decide about them')}</p>`;
  const obstacle = findObstacle(groups, filter);
  const hidden = {
    ...heldQuery(filter),
    ...(filter.orderIds == null ? {} : { order: filter.orderIds.join(' ') }),
    shown,
    said: sayHeld(groups),
  };
  return html`<p>${sayHeld(groups)}</p>
${
  obstacle === null
    ? actionForm(visit, '/held/decide', {
        hidden: { ...hidden, decision: 'credit' },
        reasonLabel: `Why ${heldReason(filter.reason ?? '').confirms}`,
        button: all === 1 ? 'Credit it' : `Credit all ${formatCount(all)}`,
        isMain: true,
      })
    : obstacle.kind === 'several_words'
      ? html`<p>They have ${formatCount(obstacle.words)} different words that are not known. To credit orders, choose one word, or a single order.</p>`
      : null
}
${actionForm(visit, '/held/decide', {
  hidden: { ...hidden, decision: 'exclude' },
  confirm: `I have checked ${all === 1 ? 'it: it is' : 'them: they are'} never credited.`,
  button: all === 1 ? 'Exclude it' : `Exclude all ${formatCount(all)}`,
})}`;
}
