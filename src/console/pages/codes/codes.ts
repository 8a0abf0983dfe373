import { CODE_COLUMNS } from '../../../codes/parse-codes.ts';
import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { renderCsv } from '../../../render/csv.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, markLookAlikes } from '../../../render/text.ts';
import {
  type AssignedCode,
  listAssignedCodes,
  listOwnedCodes,
  listUnownedCodes,
  type OwnedCode,
} from '../../../reports/codes/list-codes.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { actionForm } from '../../markup/action-form.ts';
import {
  amountList,
  anchor,
  creatorAnchor,
  dealAnchor,
  filterForm,
  instant,
  missing,
  pagedTable,
} from '../../markup/parts.ts';
import { keyOf, optionOf, PAGE_ROWS, textOf } from '../../read-query.ts';

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
export const codesPage = definePage(PATH, async (visit) => {
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
});

async function unowned(visit: Visit): Promise<Html> {
  const rows = await listUnownedCodes(visit.db, {
    job: textOf(visit, 'job'),
    code: textOf(visit, 'code'),
    limit: PAGE_ROWS,
  });
  return html`${pagedTable(
    { rows, visit, about: 'Codes without an owner', none: 'Every code of every order has an owner.' },
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
  )}${rows.length === PAGE_ROWS ? html`<p class="dim">These are the first ${PAGE_ROWS}, by revenue in each currency. Use the filter to see others.</p>` : null}`;
}

async function assigned(visit: Visit): Promise<Html> {
  const rows = await listAssignedCodes(visit.db, {
    ...{ job: textOf(visit, 'job'), code: textOf(visit, 'code'), limit: PAGE_ROWS + 1 },
    after: keyOf(visit, { job: 'text', folded: 'text' }),
  });
  return pagedTable(
    {
      rows,
      visit,
      about: 'Assigned codes',
      none: 'No code was assigned in the console.',
      key: ['job', 'folded'],
    },
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
  );
}

async function owned(visit: Visit, view: 'owned' | 'ambiguous' | 'expiring'): Promise<Html> {
  const after = keyOf(visit, { job: 'text', folded: 'text', line: 'whole' });
  const rows = await listOwnedCodes(visit.db, {
    job: textOf(visit, 'job'),
    code: textOf(visit, 'code'),
    which: view === 'owned' ? 'all' : view,
    limit: PAGE_ROWS + 1,
    after: after === null ? null : { ...after, line: Number(after.line) },
  });
  return pagedTable(
    {
      rows,
      visit,
      about: 'Codes with an owner',
      none: 'There are none.',
      key: ['job', 'folded', 'line'],
    },
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
  );
}

/** Who a code belongs to, with links. */
export function ownerOf(visit: Visit) {
  return ({ influencerHandle, dealId, collabId, brandId }: OwnedCode | AssignedCode): Html =>
    html`${creatorAnchor(visit, influencerHandle)} ${dealId === null ? null : html`deal ${dealAnchor(visit, dealId)}`} ${collabId === null ? null : `collaboration ${collabId}`} ${brandId === null ? null : html`<small>brand ${brandId}</small>`}`;
}

/** More codes than any account has. */
const MOST = 100_000;

/**
 * Exports the codes of a job, including those assigned in the console, as codes.csv, so that they can be kept
 * in the file.
 */
export const exportCodesPage = definePage('/codes/export', async (visit) => {
  const job = textOf(visit, 'job');
  if (job === null || visit.config.jobs[job] === undefined)
    return missing('Which job?', 'The address names no job of the configuration.');
  const codes = await listOwnedCodes(visit.db, { job, which: 'all', limit: MOST });
  const rows = codes.map((one) => [
    one.code,
    one.brandId ?? '',
    one.influencerHandle ?? '',
    one.dealId ?? '',
    one.collabId ?? '',
    one.validFrom?.toISOString() ?? '',
    one.validTo?.toISOString() ?? '',
  ]);
  return {
    download: {
      name: `codes-${job}.csv`,
      type: 'text/csv',
      content: renderCsv([CODE_COLUMNS, ...rows], { delimiter: ',', escapeFormulas: true }),
    },
  };
});
