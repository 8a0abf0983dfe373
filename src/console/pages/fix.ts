import type { Amount } from '../../core/notify/notice.ts';
import { fileName } from '../../core/text/file-name.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { markLookAlikes, plural } from '../../render/text.ts';
import { listFindings } from '../../reports/checks/read-checks.ts';
import { listUnownedCodes } from '../../reports/codes/list-codes.ts';
import { listDoubleCredits, sumDoubts } from '../../reports/doubts/list-doubts.ts';
import { listHeldFiles } from '../../reports/files/list-held-files.ts';
import { listRejectedCauses } from '../../reports/files/list-rejected.ts';
import { describeReason } from '../../reports/held/describe-held-orders.ts';
import { listHeldGroups } from '../../reports/held/held-orders.ts';
import { sumRefused } from '../../reports/list-refused.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { amountList, anchor, badge, countUpTo, facet, instant, table } from '../markup/parts.ts';
import { COUNT_LIMIT, textOf } from '../read-query.ts';
import { heldQuery } from './held.ts';

const PATH = '/fix';
/** Most groups of each kind in the list; its count is of all. The page of a kind has all of them. */
const SHOWN = 25;

/** Things of one kind and cause that can be decided together. */
type Group = {
  readonly what: string;
  readonly count: number;
  readonly amounts: readonly Amount[];
  readonly since: Date | null;
  /** Where they are decided, one or many. */
  readonly href: string;
};

/** Everything that a person can decide or correct, in one list by cause; each leads to where it is decided. */
export const fixPage: ConsolePage = {
  path: PATH,
  place: 'Fix',
  tab: 'All',
  async show(visit) {
    const asked = textOf(visit, 'kind');
    const all = await Promise.all(
      Object.entries(KINDS).map(async ([kind, find]) => ({ kind, groups: await find(visit) })),
    );
    const found = all.filter(({ groups }) => groups.length > 0);
    const rows = found
      .filter(({ kind }) => asked === null || kind === asked)
      .flatMap(({ kind, groups }) => groups.slice(0, SHOWN).map((group) => ({ kind, ...group })));
    return {
      title: found.length === 0 ? 'Nothing to fix' : 'To fix',
      content: html`<nav class="facets" aria-label="Kinds">${facet(visit.link(PATH), 'all', asked === null)}${found.map(
        ({ kind, groups }) =>
          facet(
            visit.link(PATH, { kind }),
            html`${kind} <small>${countUpTo(
              groups.reduce((sum, { count }) => sum + count, 0),
              COUNT_LIMIT,
            )}</small>`,
            kind === asked,
          ),
      )}</nav>
${table(
  rows,
  [
    column('What', ({ what, href }) => anchor(href, what)),
    column('Kind', ({ kind }) => badge(kind)),
    number('How many', ({ count }) => countUpTo(count, COUNT_LIMIT)),
    number('Amount', ({ amounts }) => amountList(amounts)),
    column('Since', ({ since }) => instant(since, visit)),
  ],
  {
    about: 'What can be decided or corrected',
    none: found.length === 0 ? 'Nothing waits for a decision.' : 'Nothing of this kind waits.',
  },
)}
<p class="dim">Open a row to decide about one or several of its items. ${anchor(visit.link('/bulk'), 'Bulk decisions so far')}</p>`,
    };
  },
};

const KINDS: Readonly<Record<string, (visit: Visit) => Promise<readonly Group[]>>> = {
  async unclear({ db, link }) {
    const sums = await sumDoubts(db, {}, { limit: COUNT_LIMIT + 1 });
    return sums.map(({ reason, doubts, amount, currency }) => ({
      what: `Sent, but it is unclear whether they were credited: ${reason}`,
      count: doubts,
      amounts: currency === null ? [] : [{ amount, currency }],
      since: null,
      href: link('/doubts', { reason }),
    }));
  },
  async 'credited twice'({ db, link }) {
    return (await listDoubleCredits(db)).map(({ subject, entryId, amount, currency }) => ({
      what: `${subject} was credited more than once`,
      count: 1,
      amounts: amount === null || currency === null ? [] : [{ amount, currency }],
      since: null,
      href: link('/doubts', { entry: entryId }),
    }));
  },
  async refused({ db, link }) {
    return (await sumRefused(db)).map(({ job, entries, amount, currency, since }) => ({
      what: `The service refused what ${job} sent`,
      count: entries,
      amounts: amount === null || currency === null ? [] : [{ amount, currency }],
      since,
      href: link('/orders', { job, outcome: 'refused' }),
    }));
  },
  async 'held orders'({ db, link }) {
    const groups = (await listHeldGroups(db)).filter(({ orders }) => orders > 0);
    return groups.map((group) => ({
      what: `Orders of ${group.source} are held: ${describeReason(group)}`,
      count: group.orders,
      amounts: group.amount === null ? [] : [{ amount: group.amount, currency: group.currency }],
      since: group.since,
      href: link('/held', heldQuery(group)),
    }));
  },
  async 'rejected rows'({ db, link }) {
    return (await listRejectedCauses(db, { isOpen: true })).map(({ code, reason, rows }) => ({
      what: reason,
      count: rows,
      amounts: [],
      since: null,
      href: link('/rejected', { code }),
    }));
  },
  async 'held files'({ db, config, link }) {
    const files = await listHeldFiles(db, { sources: Object.keys(config.sources) });
    return files.map(({ uri, message, source }) => ({
      what: `${fileName(uri)}: ${message.replaceAll(uri, fileName(uri))}`,
      count: 1,
      amounts: [],
      since: null,
      href: link('/files', { state: 'held', source, file: fileName(uri) }),
    }));
  },
  async 'unusual files'({ db, config, link }) {
    const findings = await listFindings(db, { sources: Object.keys(config.sources), limit: COUNT_LIMIT + 1 });
    return findings.map(({ findingId, message, uri, foundAt }) => ({
      what: `${fileName(uri)}: ${message}`,
      count: 1,
      amounts: [],
      since: foundAt,
      href: link(`/checks/${findingId}`),
    }));
  },
  async 'codes without an owner'({ db, link }) {
    const codes = await listUnownedCodes(db, { limit: COUNT_LIMIT + 1 });
    return codes
      .filter(({ carriedAs }) => carriedAs === 'code')
      .map(({ code, folded, job, orders, amount, currency, lastDay }) => ({
        what: `Nobody owns the code ${markLookAlikes(code)}: ${plural(orders, 'order')}, the last on ${lastDay}`,
        count: 1,
        amounts: [{ amount, currency }],
        since: null,
        href: link('/codes/assign', { job, code: folded }),
      }));
  },
};
