import { basename } from 'node:path';
import { CODE_COLUMNS } from '../../../codes/parse-codes.ts';
import type { LeakedCode } from '../../../core/money/leak.ts';
import { formatSums } from '../../../core/money.ts';
import { foldCode } from '../../../core/text/fold.ts';
import { DAY_MS } from '../../../core/time/day.ts';
import { findLeaks } from '../../../money/leaks/find-leaks.ts';
import { previewVoid } from '../../../money/leaks/preview-void.ts';
import { column, number } from '../../../render/block.ts';
import { renderCsv } from '../../../render/csv.ts';
import { type Html, html } from '../../../render/html/html.ts';
import { formatCount, markLookAlikes, plural } from '../../../render/text.ts';
import {
  type AssignedCode,
  listAssignedCodes,
  listCodeUse,
  listOwnedCodes,
  listUnownedCodes,
  type OwnedCode,
} from '../../../reports/codes/list-codes.ts';
import { listOrders } from '../../../reports/list-orders.ts';
import { describeLeak, describeStart, describeVoid, LEAK_SIGNS } from '../../../reports/money/leaks.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { actColumn, actionForm, notOffered } from '../../markup/action-form.ts';
import { barChart } from '../../markup/bars.ts';
import { byChoice, byOption, byText, queryForm, readFilter } from '../../markup/filter.ts';
import {
  anchor,
  blockList,
  describeKnown,
  missing,
  noted,
  orderColumns,
  pagedTable,
  table,
  tablePart,
} from '../../markup/parts.ts';
import { dayOf, keyedPageOf, PAGE_ROWS, textOf } from '../../read-query.ts';

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
export const codesPage = definePage('/codes', async (visit) => {
  const jobs = Object.values(visit.config.jobs).flatMap((job) => ('codes' in job ? [job.name] : []));
  const { filter, form } = readFilter(visit, {
    show: byChoice('Show', VIEWS, 'unowned'),
    job: byText('Job', jobs),
    code: byText('Code'),
  });
  const { show: view, ...of } = filter;
  return {
    title: 'Codes',
    content: html`${form()}
<p>${ABOUT[view]}</p>
${view === 'unowned' ? await unowned(of, visit) : view === 'assigned' ? await assigned(of, visit) : await owned({ ...of, which: view === 'owned' ? 'all' : view }, visit)}
<p>${jobs.filter((name) => (of.job ?? name) === name).map((name) => html`${anchor(visit.link('/codes/export', { job: name }), `Codes of ${name} as codes.csv`)} `)}</p>`,
  };
});

type CodeFilter = { readonly job: string | null; readonly code: string | null };

async function unowned(filter: CodeFilter, visit: Visit): Promise<Html> {
  const rows = await listUnownedCodes(visit.db, { ...filter, limit: PAGE_ROWS });
  return html`${pagedTable(
    { rows, visit, about: 'Codes without an owner', none: 'Every code of every order has an owner.' },
    [
      column('Code', ({ code, folded, job, carriedAs, assignedTo }) =>
        carriedAs === 'code'
          ? html`${anchor(visit.link('/codes/assign', { job, code: folded }), markLookAlikes(code))}${assignedTo === null ? null : html` <small>assigned to ${assignedTo} from the next run on</small>`}`
          : noted(markLookAlikes(code), carriedAs),
      ),
      number('Orders', ({ orders }) => formatCount(orders)),
      number('Revenue', (code) => formatSums([code])),
      column('Last order', ({ lastDay }) => lastDay),
      column('Job', ({ job }) => job),
    ],
  )}${rows.length === PAGE_ROWS ? html`<p class="dim">These are the first ${PAGE_ROWS}, by revenue in each currency. Use the filter to see others.</p>` : null}`;
}

async function assigned(filter: CodeFilter, visit: Visit): Promise<Html> {
  const page = keyedPageOf(visit, { job: 'text', folded: 'text' });
  const rows = await listAssignedCodes(visit.db, { ...filter, ...page });
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
      column('Valid', (owner) => validity(owner, visit)),
      column('Assigned', ({ assignedAt, assignedBy }) => noted(visit.instant(assignedAt), assignedBy)),
      column('Counts', ({ overriddenBy }) =>
        overriddenBy === null ? 'yes' : `no: line ${overriddenBy} of codes.csv takes precedence`,
      ),
      column('Job', ({ job }) => job),
      actColumn(visit, '/codes/withdraw', [
        'Withdraw',
        ({ job, folded, code }) =>
          actionForm(visit, '/codes/withdraw', {
            hidden: { job, code: folded },
            reasonLabel: `Why ${code} is withdrawn`,
            button: 'Withdraw',
          }),
      ]),
    ],
  );
}

async function owned(
  filter: CodeFilter & { readonly which: 'all' | 'ambiguous' | 'expiring' },
  visit: Visit,
): Promise<Html> {
  const page = keyedPageOf(visit, { job: 'text', folded: 'text', line: 'whole' });
  const rows = await listOwnedCodes(visit.db, { ...filter, ...page });
  return pagedTable(
    { rows, visit, about: 'Codes with an owner', none: 'There are none.', key: ['job', 'folded', 'line'] },
    [
      column('Code', ({ job: name, code }) => anchor(visit.link('/codes/assign', { job: name, code }), code)),
      column('Owner', ownerOf(visit)),
      column('Valid', (owner) => validity(owner, visit)),
      column('From', ({ line: at, isAssigned }) =>
        at > 0 ? `codes.csv line ${at}` : isAssigned ? 'assigned here' : 'an event of the service',
      ),
      column('Job', ({ job: name }) => name),
    ],
  );
}

/** Who a code belongs to, with links. */
function ownerOf(visit: Visit) {
  return ({ influencerHandle, dealId, collabId, brandId }: OwnedCode | AssignedCode): Html =>
    html`${visit.creator(influencerHandle)} ${dealId === null ? null : html`deal ${visit.deal(dealId)}`} ${collabId === null ? null : `collaboration ${collabId}`} ${brandId === null ? null : html`<small>brand ${brandId}</small>`}`;
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
  const rows = codes.map(({ code, brandId, influencerHandle, dealId, collabId, ...valid }) => {
    const from = valid.validFromText ?? valid.validFrom?.toISOString();
    const to = valid.validToText ?? valid.validTo?.toISOString();
    return [code, brandId, influencerHandle, dealId, collabId, from, to].map((cell) => cell ?? '');
  });
  return {
    download: {
      name: `codes-${job}.csv`,
      type: 'text/csv',
      content: renderCsv([CODE_COLUMNS, ...rows], { delimiter: ',', escapeFormulas: true }),
    },
  };
});

const SHOWN_ORDERS = 10;
const SHOWN_DAYS = 90;

/**
 * One code: who owns it and did, its orders by day with and without a link, whether it leaked, and the form that
 * assigns it.
 */
export const assignCodePage = definePage('/codes/assign', async (visit) => {
  const { db, now } = visit;
  const code = textOf(visit, 'code');
  const folded = foldCode(code ?? '');
  const job = textOf(visit, 'job') ?? (code === null ? null : await findJob(visit, folded));
  if (job === null || code === null || visit.config.jobs[job] === undefined)
    return missing('Which code?', html`${anchor(visit.link('/codes'), 'Choose a code.')}`);
  const [sums, orders, assigned, owners, use, [leak]] = await Promise.all([
    listUnownedCodes(db, { job, folded: code, limit: 20 }),
    listOrders(db, { job, disposition: 'unattributed', matchedWhole: code, limit: SHOWN_ORDERS }),
    listAssignedCodes(db, { job, folded, limit: SHOWN_ORDERS }),
    listOwnedCodes(db, { job, folded, which: 'all', limit: SHOWN_ORDERS }),
    listCodeUse(db, { folded, days: SHOWN_DAYS }),
    findLeaks(db, { now, code: folded }),
  ]);
  const current = assigned.find(({ withdrawnAt }) => withdrawnAt === null);
  const name = owners[0]?.code ?? current?.code ?? sums[0]?.code ?? code;
  const isUnowned = owners.length === 0 && current === undefined;
  const waits = sums.some(({ assignedTo }) => assignedTo !== null);
  const needsOwner = sums.length > 0 && !waits;
  const isOpenLeak = leak !== undefined && leak.acknowledged === null;
  // A row of codes.csv takes precedence over what is assigned here.
  const line = owners.find((owner) => owner.line > 0)?.line ?? null;
  const unownedOrders = sums.map((sum) => `${plural(sum.orders, 'order')} (${formatSums([sum])})`).join(', ');
  const isOver = owners.every(({ validTo }) => validTo !== null && validTo <= now);
  const sentences = [
    current !== undefined
      ? `It is assigned to ${current.influencerHandle ?? current.dealId ?? current.collabId}.`
      : isUnowned
        ? 'No creator owns this code.'
        : html`It ${isOver ? 'belonged' : 'belongs'} to ${owners.map((owner, index) => html`${index === 0 ? null : '; '}${ownerOf(visit)(owner)}, ${validity(owner, visit)}`)}.`,
    isOpenLeak ? 'It may have leaked.' : null,
    waits
      ? `The next run of ${job} credits ${unownedOrders} if its rules allow.`
      : needsOwner
        ? `${unownedOrders} ${sums.length === 1 && sums[0]?.orders === 1 ? 'has' : 'have'} no owner.`
        : isOpenLeak
          ? null
          : 'No order with this code lacks an owner, as of the last refresh of the reports.',
    line === null || !needsOwner
      ? null
      : `Extend line ${line} of codes.csv, or add the owner of these days there: the next run matches these orders again.`,
  ];
  const owning = html`${ownerTable(assigned, owners, visit)}
${ownerForm()}`;
  return {
    title: `Code ${name}`,
    content: html`<div class="answer ${isUnowned || needsOwner || waits || isOpenLeak ? 'yellow' : 'green'}"><p>${sentences.filter((one) => one !== null).map((one) => html`${one} `)}</p></div>
${leakEvidence(leak)}
${await voidPart(leak, { code: folded, visit })}
${
  isOpenLeak
    ? actionForm(visit, '/money/leaks/acknowledge', {
        hidden: { code: leak.code },
        reasonLabel: 'Why it needs no more attention',
        button: 'Acknowledge',
      })
    : null
}
${isUnowned || needsOwner ? owning : null}
<h2>Orders by day <small>${SHOWN_DAYS} days to the newest order${use.some(({ orders: count, withoutLink }) => count > withoutLink) ? '; yellow: with a link of the creator' : ''}</small></h2>
${use.length === 0 ? html`<p class="none">No order carries it.</p>` : useChart(use, { folded, leak, visit })}
${isUnowned || needsOwner ? null : owning}
<h2>Orders with this code and without an owner</h2>
<p>The next run of ${job} credits those that its rules allow: by validity, status, dates and the other codes of the order. Orders that were credited already stay as they are.</p>
${table({ rows: orders, about: `Newest orders with ${code}`, none: 'Every order with this code has an owner, or waits for another reason.' }, orderColumns(visit))}`,
  };

  function ownerForm(): Html | null {
    if (line !== null)
      return needsOwner ? null : html`<p>Line ${line} of codes.csv names its owner: change it there.</p>`;
    if (!visit.may('POST /codes/assign'))
      return html`<p>${notOffered(visit, 'POST /codes/assign', 'assign an owner')}</p>`;
    return html`<details${isUnowned || needsOwner ? html` open data-open` : null}><summary>${isUnowned ? 'Assign an owner' : 'Assign another owner'}</summary>${assignForm()}</details>`;
  }

  function assignForm(): Html {
    const input = (field: string, label: string, value: string | null, hint: string): Html =>
      html`<p><label>${label} <input type="text" name="${field}" value="${value ?? ''}" maxlength="200"></label> <small>${hint}</small></p>
`;
    return actionForm(visit, '/codes/assign', {
      hidden: { job: job ?? '', code: name },
      fields: html`<p>Fill in one of deal, collaboration and handle. A deal is the safest, because one handle can have several deals.</p>
${input('deal_id', 'Deal', current?.dealId ?? null, 'as the service shows it')}
${input('collab_id', 'Collaboration', current?.collabId ?? null, '')}
${input('influencer_handle', 'Handle', current?.influencerHandle ?? null, 'as in the address of the profile')}
${input('brand_id', 'Brand', current?.brandId ?? null, 'blank: the brand of the job')}
${input('valid_from', 'Valid from', current?.validFromText ?? null, 'such as 2026-04-01; blank: always')}
${input('valid_to', 'Valid to', current?.validToText ?? null, 'blank: open')}
<p><label><input type="checkbox" name="understood" value="yes"> Assign it even if neither the mirror nor a code knows the owner, because it may be new.</label></p>`,
      button: 'Assign',
      isMain: !isOpenLeak,
    });
  }
});

/** The first job that knows a code, or whose orders carry it. */
async function findJob({ db }: Visit, folded: string): Promise<string | null> {
  const [owned] = await listOwnedCodes(db, { folded, which: 'all', limit: 1 });
  const [unowned] = owned === undefined ? await listUnownedCodes(db, { folded, limit: 1 }) : [];
  return owned?.job ?? unowned?.job ?? null;
}

/** When a code is its owner's: the days or times as a person wrote them, so that a last day is included. */
export function validity(
  {
    validFrom = null,
    validTo = null,
    validFromText,
    validToText,
  }: Pick<AssignedCode, 'validFromText' | 'validToText'> & Partial<Pick<OwnedCode, 'validFrom' | 'validTo'>>,
  visit: Visit,
): Html | string {
  const from = validFromText ?? (validFrom === null ? null : visit.instant(validFrom));
  const until = validToText ?? (validTo === null ? null : visit.instant(validTo));
  if (from === null) return until === null ? 'always' : html`until ${until}`;
  return until === null ? html`since ${from}` : html`${from} until ${until}`;
}

function leakEvidence(leak: LeakedCode | undefined): Html | null {
  return leak === undefined
    ? null
    : html`<section><h2>It may have leaked</h2>
<p>${describeLeak(leak)} Search for the code on the web. No order is withheld.</p></section>
`;
}

/**
 * What it would change if the code earned nothing any more: a form that asks for the day, and for the day of the address
 * (`void`) the preview, with the form that decides exactly this.
 */
async function voidPart(
  leak: LeakedCode | undefined,
  { code, visit }: { code: string; visit: Visit },
): Promise<Html | null> {
  const day = dayOf(visit, 'void');
  if (leak === undefined && day === null) return null;
  const form = html`<section><h2>Let it earn nothing from a day on</h2>
${queryForm(
  visit,
  { asks: ['void'], label: 'Choose a day', className: 'filter' },
  html`<label>First day that earns nothing <input type="date" name="void" required value="${day ?? leak?.began?.to ?? ''}"></label> <button${day === null ? html` class="primary"` : null} type="submit">Show what it would change</button>`,
)}`;
  if (day === null)
    return html`${form}</section>
`;
  try {
    const { statements } = visit.config;
    const preview = await previewVoid(visit.db, {
      settings: statements,
      code,
      day,
      reason: '',
      now: visit.now,
    });
    const orders = (link: string): Html =>
      anchor(visit.link('/orders', { code, from: day, link }), html`orders ${link} a link`);
    return html`${form}${blockList(describeVoid(preview, leak ?? null), visit)}
<p>See the ${orders('with')} and the ${orders('without')} since then.</p>
${actionForm(visit, '/codes/void', {
  hidden: { code, day, shown: preview.seal },
  reasonLabel: 'Why, as the terms and the audit keep it',
  button: `Write it into ${preview.file === null ? 'the terms' : basename(preview.file)}`,
  isMain: true,
})}</section>
`;
  } catch (error) {
    return html`${form}${describeKnown(error)}</section>
`;
  }
}

/** Orders of each day; the part with a link stands below the part without one. */
function useChart(
  use: Awaited<ReturnType<typeof listCodeUse>>,
  { folded, leak, visit }: { folded: string; leak: LeakedCode | undefined; visit: Visit },
): Html {
  const last = Date.parse(use.at(-1)?.day ?? '');
  const days = Array.from({ length: SHOWN_DAYS }, (_, index) =>
    new Date(last - (SHOWN_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  const [from = -1, to = -1] = [leak?.began?.from, leak?.began?.to].map((day) => days.indexOf(day ?? ''));
  const band = leak === undefined || from < 0 || to < 0 ? null : { from, to, name: describeStart(leak) };
  return barChart(
    days.map((day) => {
      const { orders = 0, withoutLink = 0 } = use.find((one) => one.day === day) ?? {};
      return {
        label: day,
        value: orders,
        part: orders - withoutLink,
        name: `${day}: ${plural(orders, 'order')}, ${withoutLink} without a link`,
        href: visit.link('/orders', { code: folded, link: 'either', from: day, to: day }),
      };
    }),
    { label: 'Orders with the code by day', band },
  );
}

/** Its owner over time: as the last run loaded them, and those that were assigned here, with the withdrawn ones. */
function ownerTable(
  assigned: readonly AssignedCode[],
  owners: readonly OwnedCode[],
  visit: Visit,
): Html | null {
  const rows = [
    ...owners.map((owner) => ({
      owner: ownerOf(visit)(owner),
      valid: validity(owner, visit),
      from: owner.line > 0 ? `codes.csv line ${owner.line}` : 'loaded by the last run',
    })),
    ...assigned.map((one) => ({
      owner: ownerOf(visit)(one),
      valid: validity(one, visit),
      from: html`assigned here ${visit.instant(one.assignedAt)} by ${one.assignedBy}${one.withdrawnAt === null ? null : html`, until ${visit.instant(one.withdrawnAt)}`}`,
    })),
  ];
  return tablePart('Owners', { rows }, [
    column('Owner', ({ owner }) => owner),
    column('Valid', ({ valid }) => valid),
    column('Stated in', ({ from }) => from),
  ]);
}

const STATES = ['open', 'acknowledged'] as const;

/** Page of the codes that may have leaked, with the evidence. The page of each leads on. */
export const leaksPage = definePage('/money/leaks', async (visit) => {
  const { filter, form } = readFilter(visit, { state: byOption('State', STATES) });
  const leaks = (await findLeaks(visit.db, { now: visit.now })).filter(
    ({ acknowledged }) => filter.state === null || (acknowledged === null) === (filter.state === 'open'),
  );
  return {
    title: 'Codes that may have leaked',
    content: html`<p>${LEAK_SIGNS} Search for the code on the web. No order is withheld.</p>
${form()}
${pagedTable(
  {
    // Few codes are flagged, so all are on one page.
    rows: leaks,
    visit,
    about: 'Codes that may have leaked',
    none: 'No such code was used in an unusual way in the last four weeks.',
  },
  [
    column('Code', ({ code }) => anchor(visit.link('/codes/assign', { code }), code)),
    column('Evidence', describeLeak),
    column('Acknowledged', ({ acknowledged }) => visit.instant(acknowledged?.at ?? null)),
  ],
)}`,
  };
});
