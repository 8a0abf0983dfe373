import type { LeakedCode } from '../../../core/money/leak.ts';
import { findLeaks } from '../../../money/leaks/find-leaks.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, plural } from '../../../render/text.ts';
import { formatShare, formatUsual } from '../../../reports/money/leaks.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { actionForm } from '../../markup/action-form.ts';
import { anchor, dealAnchor, filterForm, instant, pagedTable } from '../../markup/parts.ts';
import { optionOf, PAGE_ROWS, textOf } from '../../read-query.ts';

const PATH = '/money/leaks';
const STATES = ['open', 'acknowledged'] as const;

/** Page of the codes that may have leaked, with the evidence, and a form to acknowledge each of them. */
export const leaksPage = definePage(PATH, async (visit) => {
  const state = optionOf(visit, 'state', STATES);
  const leaks = (await findLeaks(visit.db, { now: visit.now })).filter(
    ({ acknowledged }) => state === null || (acknowledged === null) === (state === 'open'),
  );
  const after = textOf(visit, 'after');
  // Few codes are flagged, so all are computed for every page, and only the display is paged.
  const begin = after === null ? 0 : leaks.findIndex(({ code }) => code === after) + 1;
  const rows = leaks.slice(begin, begin + PAGE_ROWS + 1);
  return {
    title: 'Codes that may have leaked',
    content: html`<p>More orders than usual for the code carry no link of its creator, and their share is larger than usual. A code on a coupon site looks like that, and so does one that was read out in a podcast. Search for the code on the web. No order is withheld.</p>
${filterForm(visit, [{ name: 'state', label: 'State', options: STATES }])}
${pagedTable(
  {
    rows,
    visit,
    about: 'Codes that may have leaked',
    none: 'No such code was used in an unusual way in the last four weeks.',
    key: 'code',
  },
  [
    column('Code', ({ code }) => anchor(visit.link('/codes/assign', { code }), code)),
    column(
      'Owner',
      ({ influencerHandle, dealId }) =>
        html`${influencerHandle} ${dealId === null ? null : html`deal ${dealAnchor(visit, dealId)}`}`,
    ),
    column('Since', ({ since }) => since),
    number(
      'Orders without a link',
      ({ withoutLink, orders, days }) =>
        `${formatCount(withoutLink)} of ${formatCount(orders)} in ${plural(days, 'day')}`,
    ),
    number(
      'Usual',
      ({ usualWithoutLink, usualShare }) =>
        `${formatUsual(usualWithoutLink)}, and ${formatShare(usualShare)}`,
    ),
    number('Had ordered before', ({ known, returning }) =>
      known === 0 ? 'unknown' : `${formatCount(returning)} of ${plural(known, 'known customer')}`,
    ),
    column('Acknowledged', (leak) => decision(leak, visit)),
  ],
)}`,
  };
});

function decision({ code, acknowledged }: LeakedCode, visit: Visit) {
  if (acknowledged !== null)
    return html`${instant(acknowledged.at, visit)} by ${acknowledged.by}: ${acknowledged.reason}`;
  return actionForm(visit, '/money/leaks/acknowledge', {
    hidden: { code },
    reasonLabel: `Why ${code} needs no more attention`,
    button: 'Acknowledge',
  });
}
