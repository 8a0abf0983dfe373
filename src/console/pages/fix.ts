import { createHash } from 'node:crypto';
import { countUnknown, formatAmounts, formatAtLeast } from '../../core/money.ts';
import type { Amount } from '../../core/notify/notice.ts';
import { sumOrders } from '../../core/order.ts';
import { fileName } from '../../core/text/file-name.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { capital, markLookAlikes, plural } from '../../render/text.ts';
import { listFindings } from '../../reports/checks/read-checks.ts';
import { listUnownedCodes } from '../../reports/codes/list-codes.ts';
import { listDoubleCredits, sumDoubts, sumRefused } from '../../reports/doubts/list-doubts.ts';
import { listFilesRead } from '../../reports/files/list-files.ts';
import { listRejectedCauses } from '../../reports/files/list-rejected.ts';
import { describeReason } from '../../reports/held/describe-held-orders.ts';
import { listHeldGroups } from '../../reports/held/held-orders.ts';
import { sumOtherCurrency } from '../../reports/money/list-other-currency.ts';
import type { ActionPath } from '../access/permissions.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm, chooseBar, chooseBox, notOffered } from '../markup/action-form.ts';
import { queryForm } from '../markup/filter.ts';
import {
  amountList,
  anchor,
  badge,
  countUpTo,
  facet,
  noted,
  type TableColumn,
  table,
} from '../markup/parts.ts';
import { COUNT_LIMIT, optionOf } from '../read-query.ts';
import { acknowledgeManyForm, settleManyForm } from './doubts.ts';
import { decideManyForm } from './files.ts';
import { heldForms, heldQuery } from './held.ts';
import { settleForms } from './restated.ts';

const PATH = '/fix';
/** Most groups of each kind in the list; its count is of all. The page of a kind has all of them. */
const SHOWN = 25;
/** Most groups that one form names. */
const MOST_CHOSEN = 200;
const FORM = 'decide';

/** Things of one kind and cause that can be decided together. */
type Group<Of> = {
  readonly what: string;
  readonly count: number;
  readonly amounts: readonly Amount[];
  /** Number of these things whose amount is not known. */
  readonly withoutAmount?: number;
  /** An instant, or a day as text. Null: it is not known. */
  readonly since: Date | string | null;
  /** Where they are decided, one or many. What is decided there is one group. */
  readonly href: string;
  /** What its decision is about. */
  readonly of: Of;
};
type Groups<Of> = readonly Group<readonly Of[]>[];

type Forms = Html | null | Promise<Html>;

type Kind = {
  find(visit: Visit): Promise<Groups<unknown>>;
  /** The forms that decide about several groups. Null: each is decided on its own page. */
  readonly many: { readonly path: ActionPath; form(visit: Visit, chosen: Groups<never>): Forms } | null;
};

/** Everything that a person can decide or correct, in one list by cause. Those that are chosen are decided kind by kind. */
export const fixPage = definePage(PATH, async (visit) => {
  const asked = optionOf(visit, 'kind', Object.keys(KINDS));
  const all = await Promise.all(
    Object.entries(KINDS).map(async ([kind, { find }]) => ({ kind, groups: await find(visit) })),
  );
  const found = all.filter(({ groups }) => groups.length > 0);
  const wanted = found.filter(({ kind }) => asked === null || kind === asked);
  if (visit.query.has('all')) return { title: 'Decide about all', content: await decisions(wanted, visit) };
  const keys = new Set(visit.query.getAll('chosen'));
  if (keys.size > 0) {
    const chosen = found
      .map(({ kind, groups }) => ({ kind, groups: groups.filter(({ href }) => keys.has(keyOf(href))) }))
      .filter(({ groups }) => groups.length > 0);
    const gone = keys.size - chosen.reduce((sum, { groups }) => sum + groups.length, 0);
    return {
      title: 'Decide about the chosen',
      content: html`${gone === 0 ? null : html`<p class="notice">${plural(gone, 'line')} that you chose ${gone === 1 ? 'is' : 'are'} not in the list any more: there is nothing left to decide.</p>`}${await decisions(chosen, visit)}`,
    };
  }
  const rows = wanted.flatMap(({ kind, groups }) =>
    groups.slice(0, SHOWN).map((group) => ({ kind, ...group })),
  );
  const mayDecide = rows.length > 0 && visit.may('POST /bulk/preview');
  return {
    title: found.length === 0 ? 'Nothing to fix' : 'To fix',
    content: html`<nav class="facets" aria-label="Kinds">${facet(visit.link(PATH), 'all', asked === null)}${found.map(
      ({ kind, groups }) => facet(visit.link(PATH, { kind }), noted(kind, countAll(groups)), kind === asked),
    )}</nav>
${table(
  {
    rows,
    about: 'What can be decided or corrected',
    none: found.length === 0 ? 'Nothing waits for a decision.' : 'Nothing of this kind waits.',
  },
  [
    column('What', ({ what, href }) => anchor(href, what)),
    mayDecide ? column('Choose', boxOf) : null,
    column('Kind', ({ kind }) => badge(kind)),
    ...FIGURES,
    column('Since', ({ since }) => visit.instant(since)),
  ],
)}
${mayDecide ? chosenForm(wanted, visit) : null}
<p class="dim">Open a line to decide about one or several of its items. ${anchor(visit.link('/bulk'), 'Bulk actions so far')}</p>`,
  };
});

const FIGURES: readonly TableColumn<Group<unknown>>[] = [
  number('How many', ({ count }) => countUpTo(count, COUNT_LIMIT)),
  number('Amount', (group) => (group.withoutAmount ? moneyOf([group]) : amountList(group.amounts))),
];

function countAll(groups: Groups<unknown>): string {
  return countUpTo(
    groups.reduce((sum, { count }) => sum + count, 0),
    COUNT_LIMIT,
  );
}

/** Names a group in an address, in which hundreds have room. It has the same name in every zone. */
function keyOf(href: string): string {
  const named = href.replace(/[?&]zone=[^&]*$/, '');
  return createHash('sha256').update(named).digest('hex').slice(0, 10);
}

/** What groups come to: `at least` as much, if some of it is not known. */
function moneyOf(groups: readonly Group<unknown>[]): string {
  return formatAtLeast(
    formatAmounts(groups.flatMap(({ amounts }) => amounts)),
    countUnknown(groups),
    0,
    'amount',
  );
}

function boxOf({ href, what, count, amounts, withoutAmount }: Group<unknown>): Html {
  return chooseBox({
    form: FORM,
    name: 'chosen',
    value: keyOf(href),
    label: what,
    count,
    withoutAmount,
    amount: amounts.length === 0 ? null : formatAmounts(amounts),
  });
}

type OfKind = { readonly kind: string; readonly groups: Groups<unknown> };

/** Leads on with what is ticked, or with everything that the filter leaves. */
function chosenForm(wanted: readonly OfKind[], visit: Visit): Html {
  const groups = wanted.flatMap((one) => one.groups);
  const money = moneyOf(groups);
  return html`${chooseBar(FORM, html`<button class="primary" type="submit" form="${FORM}">Decide about them</button>`)}
${queryForm(
  visit,
  { asks: ['chosen', 'all'], label: 'Decide about several lines', id: FORM },
  html`<p><button type="submit">Decide about the ticked lines</button>
<button type="submit" name="all" value="yes">Decide about all ${countAll(groups)}${money === '' ? null : `: ${money}`}</button></p>`,
)}`;
}

/** What was chosen, each kind by itself: what it is, and how it is decided. */
async function decisions(chosen: readonly OfKind[], visit: Visit): Promise<Html> {
  const sections = await Promise.all(chosen.map((one) => decisionsOf(one, visit)));
  return html`<p>${chosen.length > 1 ? `You chose ${chosen.length} kinds. Each is decided by itself, one after the other: no form is about another kind.` : 'You can still look at it.'} Nothing changes before you send and confirm a form. ${anchor(visit.link(PATH), 'Back to the list')}</p>
${sections}`;
}

async function decisionsOf({ kind, groups }: OfKind, visit: Visit): Promise<Html> {
  const many = KINDS[kind]?.many ?? null;
  const money = moneyOf(groups);
  return html`<section aria-label="${kind}"><h2>${capital(kind)}: ${countAll(groups)}${money === '' ? null : `, ${money}`}</h2>
${table({ rows: groups.slice(0, SHOWN), about: kind }, [column('What', ({ what, href }) => anchor(href, what)), ...FIGURES])}
${groups.length > SHOWN ? html`<p>The first ${SHOWN} of ${plural(groups.length, 'line')} are shown. ${many === null ? null : 'The decision is about all of them.'}</p>` : null}
${many === null || groups.length > MOST_CHOSEN ? html`<p>${many === null ? 'These are decided one by one: open each.' : `More than ${MOST_CHOSEN} cannot be decided at once here: choose fewer, or open their page.`} Nothing here decides about them.</p>` : visit.may(`POST ${many.path}`) ? await many.form(visit, groups as Groups<never>) : notOffered(visit, `POST ${many.path}`)}
</section>
`;
}

/** Puts what is decided in the same place into one group: a cause in two currencies. */
function merged<Of>(groups: readonly Group<Of>[]): Groups<Of> {
  return [...Map.groupBy(groups, ({ href }) => href).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    return {
      ...first,
      count: all.reduce((sum, { count }) => sum + count, 0),
      amounts: all.flatMap(({ amounts }) => amounts),
      withoutAmount: countUnknown(all),
      since: all
        .map(({ since }) => since)
        .reduce((one, other) => (one === null || other === null ? null : one < other ? one : other)),
      of: all.map(({ of }) => of),
    };
  });
}

function kindOf<Of>(
  find: (visit: Visit) => Promise<readonly Group<Of>[]>,
  path?: ActionPath,
  form?: (visit: Visit, chosen: Groups<Of>) => Forms,
): Kind {
  return {
    find: async (visit) => merged(await find(visit)),
    many: path === undefined || form === undefined ? null : { path, form },
  };
}

function money(amount: string | null, currency: string | null): readonly Amount[] {
  return amount === null || currency === null ? [] : [{ amount, currency }];
}

const KINDS: Readonly<Record<string, Kind>> = {
  'in doubt': kindOf(
    async ({ db, link }) =>
      (await sumDoubts(db, {}, { limit: COUNT_LIMIT + 1 })).map((sum) => ({
        what: `Sent, but it is unclear whether they were credited: ${sum.reason}`,
        count: sum.doubts,
        amounts: money(sum.amount, sum.currency),
        since: sum.since,
        href: link('/doubts', { reason: sum.reason }),
        of: sum.reason,
      })),
    '/bulk/preview',
    (visit, chosen) => {
      const doubts = chosen.reduce((sum, { count }) => sum + count, 0);
      const amounts = formatAmounts(chosen.flatMap((group) => group.amounts));
      return settleManyForm(visit, {
        hidden: { filter_reason: chosen.flatMap(({ of }) => of[0] ?? []) },
        ticked: null,
        all: `${countUpTo(doubts, COUNT_LIMIT)} ${doubts === 1 ? 'entry' : 'entries'}${amounts === '' ? '' : `: ${amounts}`}`,
      });
    },
  ),
  'credited twice': kindOf(
    async ({ db, link }) =>
      (await listDoubleCredits(db)).map(({ subject, entryId, amount, currency }) => ({
        what: `${subject} was credited more than once`,
        count: 1,
        amounts: money(amount, currency),
        since: null,
        href: link('/doubts', { entry: entryId }),
        of: entryId,
      })),
    '/bulk/preview-credits',
    (visit, chosen) =>
      acknowledgeManyForm(visit, {
        hidden: { entry: chosen.flatMap(({ of }) => of) },
        ticked: null,
        all: plural(chosen.length, 'double credit'),
      }),
  ),
  refused: kindOf(async ({ db, link }) =>
    (await sumRefused(db)).map(({ job, entries, amount, currency, since }) => ({
      what: `The service refused what ${job} sent`,
      count: entries,
      amounts: money(amount, currency),
      since,
      href: link('/orders', { job, outcome: 'refused' }),
      of: job,
    })),
  ),
  'held orders': kindOf(
    async ({ db, link }) =>
      (await listHeldGroups(db, { isDecided: false }))
        .filter(({ orders }) => orders > 0)
        .map((group) => ({
          what: `Orders of ${group.source} are held: ${describeReason(group)}`,
          count: group.orders,
          amounts: money(group.amount, group.currency),
          withoutAmount: group.withoutAmount,
          since: group.since,
          href: link('/held', heldQuery(group)),
          of: group,
        })),
    '/held/decide',
    async (visit, chosen) => {
      const forms = chosen.map(
        async ({ what, of: [group] }) =>
          html`<h3>${what}</h3>${group === undefined ? null : await heldForms(visit, { ...group, orderIds: null, isDecided: false })}`,
      );
      return html`${await Promise.all(forms)}`;
    },
  ),
  'other currency': kindOf(
    async ({ db, link }) =>
      (await sumOtherCurrency(db, {})).map(({ source, currency, amount, orders, since }) => ({
        what: `Posted orders of ${source} are stated in another currency since`,
        count: orders,
        amounts: money(amount, currency),
        since,
        href: link('/restated', { source }),
        of: source,
      })),
    '/restated/settle',
    async (visit, chosen) => {
      const forms = chosen.map(async ({ what, of: [source] }) =>
        source === undefined
          ? null
          : ((await settleForms(visit, { source, orderIds: null })) ??
            html`<p>${what}, and were decided about before. Open the line to decide otherwise.</p>`),
      );
      return html`${await Promise.all(forms)}`;
    },
  ),
  'rejected rows': kindOf(async ({ db, link }) =>
    (await listRejectedCauses(db, { isOpen: true })).map(({ code, reason, rows, orderRows, since }) => ({
      what: reason,
      count: rows,
      amounts: [],
      withoutAmount: orderRows,
      since,
      href: link('/rejected', { code }),
      of: code,
    })),
  ),
  'held files': kindOf(
    async ({ db, config, link }) =>
      (await listFilesRead(db, { state: 'held', limit: COUNT_LIMIT + 1 }))
        .filter(({ source }) => config.sources[source] !== undefined)
        .map(({ uri, holdMessage, firstSeenAt, sourceFileId }) => ({
          what: `${fileName(uri)}: ${(holdMessage ?? '').replaceAll(uri, fileName(uri))}`,
          count: 1,
          amounts: [],
          withoutAmount: 1,
          since: firstSeenAt,
          href: link(`/files/${sourceFileId}`),
          of: sourceFileId,
        })),
    '/bulk/preview-files',
    (visit, chosen) => {
      const file = chosen.flatMap(({ of }) => of);
      return decideManyForm(visit, { hidden: { file }, ticked: null, all: plural(file.length, 'file') });
    },
  ),
  'unusual files': kindOf(
    async ({ db, config, link }) =>
      (await listFindings(db, { sources: Object.keys(config.sources), limit: COUNT_LIMIT + 1 })).map(
        ({ findingId, message, uri, foundAt }) => ({
          what: `${fileName(uri)}: ${message}`,
          count: 1,
          amounts: [],
          since: foundAt,
          href: link(`/checks/${findingId}`),
          of: findingId,
        }),
      ),
    '/checks/acknowledge',
    (visit, chosen) =>
      actionForm(visit, '/checks/acknowledge', {
        hidden: { finding: chosen.flatMap(({ of }) => of) },
        reasonLabel: 'Why these files are correct',
        button: `Acknowledge ${plural(chosen.length, 'finding')}`,
      }),
  ),
  'codes without an owner': kindOf(async ({ db, link }) => {
    const codes = (await listUnownedCodes(db, { limit: COUNT_LIMIT + 1 })).filter(
      ({ carriedAs, assignedTo }) => carriedAs === 'code' && assignedTo === null,
    );
    // A code that is used in several currencies is one code, with all its orders.
    return [...Map.groupBy(codes, ({ job, folded }) => link('/codes/assign', { job, code: folded }))].flatMap(
      ([href, uses]) => {
        const orders = sumOrders(uses);
        const days = uses.flatMap(({ firstDay, lastDay }) => [firstDay, lastDay]).toSorted();
        return uses
          .slice(0, 1)
          .map(({ code }) => ({
            what: `${markLookAlikes(code)} has no owner: ${plural(orders, 'order')}, the last of ${days.at(-1)}`,
            count: 1,
            amounts: uses.flatMap(({ amount, currency }) => money(amount, currency)),
            withoutAmount: countUnknown(uses),
            since: days[0] ?? null,
            href,
            of: code,
          }));
      },
    );
  }),
};
