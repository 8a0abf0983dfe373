import { foldCode } from '../../../core/text/fold.ts';
import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { plural } from '../../../render/text.ts';
import { listAssignedCodes, listUnownedCodes } from '../../../reports/codes/list-codes.ts';
import { listOrders } from '../../../reports/list-orders.ts';
import type { ConsolePage } from '../../console-page.ts';
import { actionForm } from '../../markup/action-form.ts';
import { amountList, anchor, instant, missing, orderLink, table } from '../../markup/parts.ts';
import { textOf } from '../../read-query.ts';

/** Assigns an owner to one code, and shows the orders with it. */
export const assignCodePage: ConsolePage = {
  path: '/codes/assign',
  place: 'Creators',
  tab: null,
  async show(visit) {
    const job = textOf(visit, 'job');
    const code = textOf(visit, 'code');
    if (job === null || code === null || visit.config.jobs[job] === undefined)
      return missing('Which code?', html`${anchor(visit.link('/codes'), 'Choose a code.')}`);
    const [sums, orders, assigned] = await Promise.all([
      listUnownedCodes(visit.db, { job, folded: code, limit: 20 }),
      listOrders(visit.db, { job, disposition: 'unattributed', matched: code, limit: SHOWN_ORDERS }),
      listAssignedCodes(visit.db, { job }),
    ]);
    const current = assigned.find(({ folded }) => folded === foldCode(code));
    return {
      title: `Assign ${current?.code ?? sums[0]?.code ?? code}`,
      content: html`<div class="answer ${current === undefined && sums.length > 0 ? 'yellow' : 'dim'}"><p>${
        current === undefined
          ? sums.length === 0
            ? ''
            : 'Nobody owns this code.'
          : `It is assigned to ${current.influencerHandle ?? current.dealId ?? current.collabId}. Your entry replaces that.`
      } ${sums.length === 0 ? 'No order with it lacks an owner, as of the last refresh of the reports.' : html`Without an owner are ${sums.map(({ orders: count, amount, currency }, index) => html`${index === 0 ? null : ', '}${plural(count, 'order')}, ${amountList([{ amount, currency }])}`)}.`}</p></div>
${assignForm()}
<h2>Orders with this code and without an owner</h2>
<p>The next run of ${job} credits those that its rules allow: by validity, status, dates and the other codes of the order. Orders that were credited already stay as they are.</p>
${table(
  orders,
  [
    column('Order', (row) => anchor(orderLink(visit, row), row.orderName ?? row.orderId)),
    column('Ordered', ({ orderedAt }) => instant(orderedAt, visit)),
    column('Codes', ({ matchedValue }) => matchedValue),
    number('Amount', ({ amount, currency }) => (amount === null ? null : amountList([{ amount, currency }]))),
  ],
  { about: `Newest orders with ${code}`, none: 'No order has this code.' },
)}`,
    };

    function assignForm(): Html {
      const input = (name: string, label: string, value: string | null, hint: string): Html =>
        html`<p><label>${label} <input type="text" name="${name}" value="${value ?? ''}" maxlength="200"></label> <small>${hint}</small></p>
`;
      return actionForm(visit, '/codes/assign', {
        hidden: { job: job ?? '', code: current?.code ?? sums[0]?.code ?? code ?? '' },
        fields: html`<p>Name one of deal, collaboration and handle. A deal is the safest: a handle may have several.</p>
${input('deal_id', 'Deal', current?.dealId ?? null, 'as the service shows it')}
${input('collab_id', 'Collaboration', current?.collabId ?? null, '')}
${input('influencer_handle', 'Handle', current?.influencerHandle ?? null, 'as in the address of the profile')}
${input('brand_id', 'Brand', current?.brandId ?? null, 'blank: the brand of the job')}
${input('valid_from', 'Valid from', current?.validFrom ?? null, 'such as 2026-04-01; blank: always')}
${input('valid_to', 'Valid to', current?.validTo ?? null, 'blank: open')}
<p><label><input type="checkbox" name="understood" value="yes"> I know: the deal or handle may be new, and the mirror need not know it.</label></p>`,
        reasonLabel: 'Why',
        button: 'Assign',
      });
    }
  },
};

const SHOWN_ORDERS = 10;
