import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, markLookAlikes } from '../../../render/text.ts';
import { listAssignedCodes, listOwnedCodes, listUnownedCodes } from '../../../reports/codes/list-codes.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { actionForm } from '../../markup/action-form.ts';
import { amountList, anchor, filterForm, instant, pagedTable } from '../../markup/parts.ts';
import { keyOf, optionOf, PAGE_ROWS, textOf, writeKey } from '../../read-query.ts';
import { ownerOf } from './owner-of.ts';

const PATH = '/codes';
const VIEWS = ['unowned', 'assigned', 'owned', 'ambiguous', 'expiring'] as const;
type View = (typeof VIEWS)[number];

const ABOUT: Readonly<Record<View, string>> = {
  unowned:
    'Orders carry these codes, links or handles, but they have no owner. An order with two of them counts for both.',
  assigned: 'Codes that were assigned in the console. A row of codes.csv for the same code takes precedence.',
  owned:
    'As the last run of each job loaded them: from codes.csv, from the console, and from events of the service.',
  ambiguous: 'Codes that have several owners at the same time. Their orders are held. Fix codes.csv.',
  expiring: 'Codes whose validity ends within 30 days, or has ended.',
};

/** Codes without an owner, by revenue, and codes with an owner. */
export const codesPage: ConsolePage = {
  path: PATH,
  place: 'Creators',
  tab: 'Codes',
  async show(visit) {
    const view = optionOf(visit, 'show', VIEWS) ?? 'unowned';
    const jobs = Object.values(visit.config.jobs).filter((job) => 'codes' in job);
    const job = textOf(visit, 'job');
    return {
      title: 'Codes',
      content: html`${filterForm(visit, [
        { name: 'show', label: 'Show', options: VIEWS, required: true },
        { name: 'job', label: 'Job', options: jobs.map(({ name }) => name) },
        { name: 'code', label: 'Code' },
      ])}
<p>${ABOUT[view]}</p>
${view === 'unowned' ? await unowned(visit) : view === 'assigned' ? await assigned(visit) : await owned(visit, view)}
<p>${jobs.filter(({ name }) => job === null || name === job).map(({ name }) => html`${anchor(visit.link('/codes/export', { job: name }), `Codes of ${name} as codes.csv`)} `)}</p>`,
    };
  },
};

async function unowned(visit: Visit): Promise<Html> {
  const rows = await listUnownedCodes(visit.db, {
    job: textOf(visit, 'job'),
    code: textOf(visit, 'code'),
    limit: PAGE_ROWS,
  });
  return html`${pagedTable(
    rows,
    [
      column('Code', ({ code, folded, job, carriedAs }) =>
        carriedAs === 'code'
          ? anchor(visit.link('/codes/assign', { job, code: folded }), markLookAlikes(code))
          : html`${markLookAlikes(code)} <small>${carriedAs}</small>`,
      ),
      number('Orders', ({ orders }) => formatCount(orders)),
      number('Revenue', ({ amount, currency }) => amountList([{ amount, currency }])),
      column('Last order', ({ lastDay }) => lastDay),
      column('Job', ({ job }) => job),
    ],
    { visit, about: 'Codes without an owner', none: 'Every code of every order has an owner.' },
  )}${rows.length === PAGE_ROWS ? html`<p class="dim">These are the first ${PAGE_ROWS}, by revenue in each currency. Use the filter to see others.</p>` : null}`;
}

async function assigned(visit: Visit): Promise<Html> {
  const [job = '', folded = ''] = keyOf(visit, 2) ?? [];
  const rows = await listAssignedCodes(visit.db, {
    ...{ job: textOf(visit, 'job'), code: textOf(visit, 'code'), limit: PAGE_ROWS + 1 },
    after: folded === '' ? null : { job, folded },
  });
  return pagedTable(
    rows,
    [
      column('Code', ({ code, folded, job }) =>
        anchor(visit.link('/codes/assign', { job, code: folded }), code),
      ),
      column('Owner', ownerOf(visit)),
      column('Valid', ({ validFrom, validTo }) => `${validFrom ?? 'always'} to ${validTo ?? 'open'}`),
      column(
        'Assigned',
        ({ assignedAt, assignedBy }) => html`${instant(assignedAt, visit)} <small>${assignedBy}</small>`,
      ),
      column('Counts', ({ overriddenBy }) =>
        overriddenBy === null ? 'yes' : `no: line ${overriddenBy} of codes.csv takes precedence`,
      ),
      column('Job', ({ job }) => job),
      column('Withdraw', ({ job, folded, code }) =>
        actionForm(visit, '/codes/withdraw', {
          hidden: { job, code: folded },
          reasonLabel: `Why ${code} is withdrawn`,
          button: 'Withdraw',
        }),
      ),
    ],
    {
      ...{ visit, about: 'Assigned codes', none: 'No code was assigned in the console.' },
      keyOf: (row) => writeKey(row.job, row.folded),
    },
  );
}

async function owned(visit: Visit, view: 'owned' | 'ambiguous' | 'expiring'): Promise<Html> {
  const [job = '', folded = '', line = ''] = keyOf(visit, 3) ?? [];
  const rows = await listOwnedCodes(visit.db, {
    job: textOf(visit, 'job'),
    code: textOf(visit, 'code'),
    which: view === 'owned' ? 'all' : view,
    limit: PAGE_ROWS + 1,
    after: /^-?\d{1,9}$/.test(line) ? { job, folded, line: Number(line) } : null,
  });
  return pagedTable(
    rows,
    [
      column('Code', ({ job: name, code }) => anchor(visit.link('/codes/assign', { job: name, code }), code)),
      column('Owner', ownerOf(visit)),
      column('Valid', ({ validFrom, validTo }) =>
        validFrom === null && validTo === null
          ? 'always'
          : html`${validFrom === null ? 'always' : instant(validFrom, visit)} to ${validTo === null ? 'open' : instant(validTo, visit)}`,
      ),
      column('From', ({ line: at, isAssigned }) =>
        at > 0 ? `codes.csv line ${at}` : isAssigned ? 'assigned here' : 'an event of the service',
      ),
      column('Job', ({ job: name }) => name),
    ],
    {
      visit,
      about: 'Codes with an owner',
      none: 'There are none.',
      keyOf: (row) => writeKey(row.job, row.folded, String(row.line)),
    },
  );
}
