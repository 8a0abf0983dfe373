import { BULK_OUTCOMES, type Bulk, countOf, describeBulk, isAboutFiles } from '../../core/bulk.ts';
import type { Effect } from '../../core/ledger.ts';
import { formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { describeRepetition } from '../../ledger/effects/index.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import {
  type BulkSum,
  findBulk,
  findBulkEffects,
  findBulkProcess,
  type ListedBulkItem,
  listBulkItems,
  listBulks,
  sumBulkItems,
  wordsOf,
} from '../../reports/bulk/read-bulk.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm, notOffered } from '../markup/action-form.ts';
import { byOption, readFilter } from '../markup/filter.ts';
import { amountList, anchor, badge, factList, missing, pagedTable, table } from '../markup/parts.ts';
import { pageOf } from '../read-query.ts';

const OUTCOMES = ['waiting', ...BULK_OUTCOMES] as const;

/** One bulk action: the frozen selection, the form that confirms it, its progress, and its results. */
export const bulkPage = definePage('/bulk/:bulk', async (visit) => {
  const { bulk: id = '' } = visit.params;
  const bulk = /^\d{1,18}$/.test(id) ? await findBulk(visit.db, id) : null;
  if (bulk === null) return missing(`Bulk action ${id}`, 'There is no bulk action with this number.');
  const { filter, form } = readFilter(visit, { outcome: byOption('Result', OUTCOMES) });
  const [process, effects, sums, items] = await Promise.all([
    findBulkProcess(visit.db, bulk.bulkId),
    bulk.state === 'preview' && bulk.decision === 'resend' ? findBulkEffects(visit.db, bulk.bulkId) : [],
    sumBulkItems(visit.db, bulk.bulkId),
    listBulkItems(visit.db, { ...filter, bulkId: bulk.bulkId, ...pageOf(visit) }),
  ]);
  return {
    title: `Bulk action ${bulk.bulkId}`,
    content: html`<p>${badge(bulk.state)} <strong>${describeBulk(bulk)}</strong>. ${anchor(visit.link('/bulk'), 'All bulk actions')}</p>
${facts(bulk, visit)}
${nextStep(bulk, { process, effects, sums, visit })}
${outcomes(bulk, { sums, visit })}
<h2>${isAboutFiles(bulk.decision) ? 'Files' : 'Entries'}</h2>
${form()}
${itemTable(items, { bulk, visit })}`,
  };
});

function facts(bulk: Bulk, visit: Visit): Html {
  const by = (at: Date | null, name: string | null) =>
    at === null ? null : html`${visit.instant(at)} by ${name}`;
  return factList([
    ['Chosen', bulk.chosen],
    ['Deal for entries that name none', bulk.dealId],
    ['Collaboration for entries that name none', bulk.collabId],
    ['Why', bulk.reason],
    ['Frozen', by(bulk.createdAt, bulk.createdBy)],
    ['Can be confirmed until', bulk.state === 'preview' ? visit.instant(bulk.expiresAt) : null],
    ['Expired', bulk.state === 'expired' ? visit.instant(bulk.expiresAt) : null],
    ['Confirmed', by(bulk.confirmedAt, bulk.confirmedBy)],
    ['Aborted', by(bulk.abortedAt, bulk.abortedBy)],
    ['Ended', bulk.endedAt === null ? null : visit.instant(bulk.endedAt)],
    ['Audit', anchor(visit.link('/audit', { bulk: bulk.bulkId }), 'its decisions')],
  ]);
}

type Process = { readonly host: string; readonly pid: number } | null;
type Known = { readonly sums: readonly BulkSum[]; readonly visit: Visit };

/** The next step of a bulk action: a form or a message. */
function nextStep(
  bulk: Bulk,
  {
    process,
    effects,
    sums,
    visit,
  }: Known & { readonly process: Process; readonly effects: readonly Effect[] },
): Html | null {
  const { bulkId, state, entries, decision, reason, expiresAt } = bulk;
  switch (state) {
    case 'preview':
      if (entries === 0)
        return html`<p class="notice">None of them can be settled in this way. Nothing was changed.</p>`;
      if (!visit.may(`decide ${decision}`))
        return html`<h2>Confirm it</h2>\n<p>${notOffered(visit, `decide ${decision}`)}</p>`;
      return html`<h2>Confirm it</h2>
<p>It is about exactly ${entries === 1 ? 'this' : 'these'} ${countOf(decision, entries)}, whatever comes later. What is no longer as it is shown here is left alone.</p>
${actionForm(visit, '/bulk/confirm', {
  hidden: { bulk: bulkId },
  reason,
  button: describeBulk(bulk),
  isMain: true,
  ...(decision === 'resend'
    ? {
        confirm: `I understand that if the service has already processed ${entries === 1 ? 'it' : `any of these ${countOf('resend', entries)}`}, ${describeRepetition(effects)}.`,
      }
    : {}),
})}`;
    case 'running':
      return html`<h2>Progress</h2>
${progress(bulk, { process, sums })}
<h3>Abort it</h3>
<p>What is already settled stays settled. The rest is not changed.</p>
${visit.may(`decide ${decision}`) ? actionForm(visit, '/bulk/abort', { hidden: { bulk: bulkId }, button: 'Abort it' }) : notOffered(visit, `decide ${decision}`)}`;
    case 'expired':
      return html`<p class="notice">The preview was not confirmed by ${formatInstant(expiresAt)} UTC, so it was not executed. Nothing was changed. Make a new preview on the page ${isAboutFiles(decision) ? anchor(visit.link('/files'), 'Files') : anchor(visit.link('/doubts'), 'In doubt')}.</p>`;
    case 'finished':
    case 'aborted':
      return null;
  }
}

function progress(
  { entries, decision }: Bulk,
  { process, sums }: Pick<Known, 'sums'> & { readonly process: Process },
): Html {
  const waiting = sums.reduce((sum, group) => (group.outcome === null ? sum + group.entries : sum), 0);
  const done = entries - waiting;
  return html`<p><progress max="${Math.max(1, entries)}" value="${done}" aria-label="Entries that are done">${done} of ${entries}</progress></p>
<p>${formatCount(done)} of ${countOf(decision, entries)} ${entries === 1 ? 'is' : 'are'} done. ${
    process === null
      ? 'It waits for a process: the next one that serves the console, and is not read-only, continues it.'
      : `Process ${process.pid} on ${process.host} is working on it. If that process stops, another one continues.`
  }</p>
`;
}

/** The selected items by outcome, with the amounts. */
function outcomes(bulk: Bulk, { sums, visit }: Known): Html | null {
  const { bulkId, ineligible, state, decision } = bulk;
  if (state === 'expired') return null;
  const groups = [...Map.groupBy(sums, ({ outcome }) => outcome)];
  return html`<h2>What it ${state === 'preview' ? 'would do' : 'did'}</h2>
${ineligible === 0 ? null : html`<p>${countOf(decision, ineligible)} ${ineligible === 1 ? 'was chosen and is' : 'were chosen and are'} left out.</p>`}
${table({ rows: groups, about: 'Results', none: 'Nothing was chosen.' }, [
  column('Result', ([outcome]) =>
    anchor(visit.link(`/bulk/${bulkId}`, { outcome: outcome ?? 'waiting' }), wordsOf(outcome, bulk)),
  ),
  number('Count', ([, all]) => formatCount(all.reduce((sum, { entries }) => sum + entries, 0))),
  number('Amount', ([, all]) => amountList(all.filter(({ currency }) => currency !== null))),
])}`;
}

function itemTable(items: readonly ListedBulkItem[], { bulk, visit }: { bulk: Bulk; visit: Visit }): Html {
  const isFiles = isAboutFiles(bulk.decision);
  return pagedTable(
    {
      rows: items,
      visit,
      key: 'subjectId',
      about: `${isFiles ? 'Files' : 'Entries'} of the bulk action`,
      none: `No ${isFiles ? 'file' : 'entry'} was chosen.`,
    },
    [
      column(isFiles ? 'File' : 'Entry', ({ subjectId, subject }) =>
        isFiles
          ? anchor(visit.link(`/files/${subjectId}`), fileName(subject))
          : anchor(visit.link('/doubts', { entry: subjectId }), subjectId),
      ),
      isFiles ? null : column('About', ({ subject }) => subject),
      number('Amount', ({ amount, currency }) => amount && formatMoney(amount, currency)),
      column('Deal', ({ dealId, collabId }) => (dealId === null ? collabId : visit.deal(dealId))),
      column('Result', ({ outcome }) => wordsOf(outcome, bulk)),
      column('When', ({ outcomeAt }) => visit.instant(outcomeAt)),
    ],
  );
}

const PATH = '/bulk';

/** All previewed bulk actions and their results. */
export const bulksPage = definePage(PATH, async (visit) => {
  const bulks = await listBulks(visit.db, pageOf(visit));
  return {
    title: 'Bulk actions',
    content: html`<p>Decisions about many entries or files. You make one on the pages ${anchor(visit.link('/doubts'), 'In doubt')} and ${anchor(visit.link('/files', { state: 'held' }), 'Files')}.</p>
${pagedTable(
  { rows: bulks, visit, about: 'Bulk actions', none: 'There are no bulk actions yet.', key: 'bulkId' },
  [
    column('Bulk action', ({ bulkId }) => anchor(visit.link(`${PATH}/${bulkId}`), bulkId)),
    column('State', ({ state }) => badge(state)),
    column('What', describeBulk),
    column('Chosen', ({ chosen }) => chosen),
    column('Who', ({ createdBy, confirmedBy }) => confirmedBy ?? createdBy),
    column('Previewed', ({ createdAt }) => visit.instant(createdAt)),
    number('Settled', ({ settled }) => formatCount(settled)),
    column('Why', ({ reason }) => reason),
  ],
)}`,
  };
});
