import { countUnknown, isMore } from '../../../core/money.ts';
import { sumOrders } from '../../../core/order.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { plural } from '../../../core/text/plural.ts';
import { dayIn } from '../../../core/time/day.ts';
import { compare } from '../../../ledger/continuity/compare-ledger.ts';
import { listClaims } from '../../../money/claims/keep-claims.ts';
import { listBankEntries } from '../../../money/payments/match-bookings.ts';
import { isOverdue } from '../../../reports/claims/claims.ts';
import { sumUnownedCodes } from '../../../reports/codes/list-codes.ts';
import { listDoubleCredits, listDoubts, sumDoubts, sumRefused } from '../../../reports/doubts/list-doubts.ts';
import { describeReason, formatPosted } from '../../../reports/held/describe-held-orders.ts';
import { type HeldGroup, listHeldGroups } from '../../../reports/held/held-orders.ts';
import { sumOtherCurrency } from '../../../reports/money/list-other-currency.ts';
import { sumUnexplained, type UnexplainedSum } from '../../../reports/money/reconcile-deals.ts';
import { listStatementMails } from '../../../reports/money/statement-mails.ts';
import { addUp, countOf, type Found, nounsOf, type ProblemFinder } from './problem-finder.ts';

/** More unclear mails than anybody has: a limit of what is read. */
const MAX_MAILS = 1_000;

/** Problems with entries, orders, codes, payments and claims. */
export const moneyProblems: readonly ProblemFinder[] = [
  {
    kind: 'doubts',
    severity: 'error',
    title: 'In doubt',
    async find({ db, config, kinds, at }) {
      const found: Found[] = [];
      for (const { name, kind } of Object.values(config.jobs)) {
        const sums = await sumDoubts(db, { job: name });
        const doubtful = sums.reduce((total, sum) => total + sum.doubts, 0);
        if (doubtful === 0) continue;
        const [oldest] = await listDoubts(db, { job: name, limit: 1 });
        const { items } = nounsOf(kinds, kind);
        found.push({
          job: name,
          since: oldest === undefined ? at : new Date(oldest.since),
          amounts: addUp(sums),
          summary:
            doubtful === 1
              ? `${countOf(1, items)} of job ${name} is in doubt: it was sent, but no answer says whether the service processed it. It is not sent again until you decide.`
              : `${countOf(doubtful, items)} of job ${name} are in doubt: they were sent, but no answer says whether the service processed them. They are not sent again until you decide.`,
          command: 'npx influencer-sync review',
          page:
            doubtful === 1 && oldest !== undefined
              ? `/doubts?entry=${oldest.entryId}`
              : `/doubts?job=${encodeURIComponent(name)}`,
        });
      }
      const mails = await listStatementMails(db, { state: 'unclear', limit: MAX_MAILS });
      const first = mails.at(-1);
      if (first !== undefined)
        found.push({
          job: null,
          since: first.requestedAt,
          summary: `It is unclear whether ${mails.length === 1 ? 'a mail with a statement has' : `${mails.length} mails with statements have`} arrived. ${mails.length === 1 ? 'It is' : 'They are'} not sent again until you decide.`,
          command: 'npx influencer-sync statement mails',
          page: '/statements',
        });
      return found;
    },
    over: (job) =>
      job === null
        ? 'No mail with a statement is unclear any more.'
        : `No request of job ${job} is in doubt any more.`,
  },
  {
    kind: 'credited_twice',
    severity: 'error',
    title: 'Credited more than once',
    async find({ db, at }) {
      const all = await listDoubleCredits(db);
      return [...Map.groupBy(all, ({ job }) => job)].map(([job, credits]) => ({
        job,
        since: at,
        amounts: addUp(credits),
        summary: `The service accepted ${plural(credits.length, 'order')} of job ${job} more than once, so influencers were credited too much. Correct it in the service, then acknowledge each.`,
        command: 'npx influencer-sync review',
        page: '/doubts',
      }));
    },
    over: (job) => `Every double credit of job ${job} is acknowledged.`,
  },
  {
    kind: 'entries_refused',
    severity: 'warning',
    title: 'Refused by the service',
    async find({ db, config, kinds }) {
      const byJob = Map.groupBy(await sumRefused(db), ({ job }) => job);
      return [...byJob].flatMap(([name, sums]): readonly Found[] => {
        const job = config.jobs[name];
        if (job === undefined) return [];
        const refused = sums.reduce((total, { entries }) => total + entries, 0);
        const { items } = nounsOf(kinds, job.kind);
        const what = countOf(refused, items);
        const amounts = addUp(sums);
        return [
          {
            job: name,
            since: new Date(Math.min(...sums.map(({ since }) => since.getTime()))),
            amounts,
            summary: `The service refused ${what} of job ${name}. The job sends ${refused === 1 ? 'it' : 'them'} again only when the cause is fixed, for example a deal in codes.csv.`,
            command:
              amounts.length === 0
                ? 'npx influencer-sync status'
                : 'npx influencer-sync query "select disposition_reason, currency, count(*), sum(amount) from bi.orders_attributed where disposition = \'rejected\' group by 1, 2"',
            page:
              amounts.length === 0 ? `/runs?job=${encodeURIComponent(name)}` : '/orders?disposition=rejected',
          },
        ];
      });
    },
    over: (job) => `The service refuses nothing of job ${job} any more.`,
  },
  {
    kind: 'orders_held',
    severity: 'warning',
    title: 'Orders held',
    async find({ db, config }) {
      const byJob = Map.groupBy(await listHeldGroups(db, { isDecided: false }), ({ job }) => job);
      return [...byJob].flatMap(([job, groups]): readonly Found[] => {
        const held = sumOrders(groups);
        const sent = groups.reduce((sum, group) => sum + group.sent, 0);
        if (config.jobs[job] === undefined || held + sent === 0) return [];
        const unknown = countUnknown(groups);
        return [
          {
            job,
            since: new Date(Math.min(...groups.map(({ since }) => since.getTime()))),
            amounts: addUp(groups),
            withoutAmount: unknown,
            summary: [
              ...(held === 0
                ? []
                : [
                    `${plural(held, 'order')} of job ${job} ${held === 1 ? 'names' : 'name'} an influencer but ${held === 1 ? 'is' : 'are'} held, because something about ${held === 1 ? 'it' : 'them'} is not known: ${sayReasons(groups.filter(({ orders }) => orders > 0))}.${unknown === 0 ? '' : held === 1 ? ' Its amount is not known.' : ` The amount of ${unknown} of them is not known.`} ${held === 1 ? 'It is' : 'They are'} not posted until better data or your decision settles it.`,
                  ]),
              ...(sent === 0
                ? []
                : [
                    `${plural(sent, 'order')} of job ${job} that ${sent === 1 ? 'was' : 'were'} posted (${formatPosted(groups)}) would be held today: ${sayReasons(groups.filter((group) => group.sent > 0))}. ${sent === 1 ? 'It stays' : 'They stay'} posted and ${sent === 1 ? 'earns' : 'earn'} what ${sent === 1 ? 'it' : 'they'} earned, until better data or your decision settles it.`,
                  ]),
            ].join(' '),
            command: 'npx influencer-sync review --held',
            page: `/held?job=${encodeURIComponent(job)}`,
          },
        ];
      });
    },
    over: (job) => `No held order of job ${job} waits for a decision any more.`,
  },
  {
    kind: 'orders_restated',
    severity: 'warning',
    title: 'Stated in another currency',
    async find({ db, config }) {
      // Posted orders of jobs that are gone earn as well.
      const byJob = Map.groupBy(await sumOtherCurrency(db, {}), ({ job }) =>
        config.jobs[job] === undefined ? null : job,
      );
      return [...byJob].map(([job, sums]) => {
        const count = sumOrders(sums);
        const [it, earns] = count === 1 ? ['it', 'It earns'] : ['they', 'They earn'];
        const names = [...new Set(sums.map((sum) => sum.job))];
        const sources = [...new Set(sums.map(({ source }) => source))];
        const [source = ''] = sources;
        return {
          job,
          since: new Date(Math.min(...sums.map(({ since }) => since.getTime()))),
          amounts: addUp(sums),
          summary: `${plural(count, 'posted order')} of ${names.length === 1 ? 'job' : 'jobs'} ${names.join(', ')} ${count === 1 ? 'is' : 'are'} stated in another currency since, so it is unknown what ${it} ${count === 1 ? 'comes' : 'come'} to now. ${earns} what ${it} earned before, until an export states ${count === 1 ? 'it' : 'them'} in the currency that was sent, or you decide.`,
          command: 'npx influencer-sync statement restated',
          page: sources.length === 1 ? `/restated?source=${encodeURIComponent(source)}` : '/restated',
        };
      });
    },
    over: (job) =>
      `No posted order of ${job === null ? 'a former job' : `job ${job}`} waits to be settled in the currency that was sent.`,
  },
  {
    kind: 'totals_differ',
    severity: 'warning',
    title: 'Totals differ',
    async find({ db, config, at }) {
      const sums = await sumUnexplained(db, config.reconcile);
      return [...Map.groupBy(sums, ({ job }) => job)].map(([job, of]) => ({
        job,
        since: new Date(Math.min(...of.map(({ since }) => (since ?? at).getTime()))),
        amounts: addUp(of),
        summary: `For ${plural(countDeals(of), 'deal')}, the service counts more or fewer orders than were posted, and neither doubts nor other channels nor timing explain the difference.${sayUnknown(of)} Another tool may post orders, or orders may be lost.`,
        command: 'npx influencer-sync reconcile',
        page: '/money/reconciliation?show=unexplained',
      }));
    },
    over: () => 'The orders that the service counts are explained for every deal.',
  },
  {
    kind: 'bookings_held',
    severity: 'error',
    title: 'Bookings held',
    async find({ db }) {
      const held = await listBankEntries(db, { onlyHeld: true });
      const [first] = held;
      if (first === undefined) return [];
      const [they, are] = held.length === 1 ? ['It does', 'It is'] : ['They do', 'They are'];
      return [
        {
          since: new Date(`${first.bookedOn}T00:00:00Z`),
          amounts: addUp(held),
          summary: `The bank booked ${plural(held.length, 'amount')} of which it is not clear which payment ${are.toLowerCase()}. ${they} not count until you decide, so a payment may look unpaid, or may have been paid twice.`,
          command: 'npx influencer-sync payments --held',
          page: '/money/payments',
        },
      ];
    },
    over: () => 'No booking of the bank waits for a decision any more.',
  },
  {
    kind: 'claims_overdue',
    severity: 'warning',
    title: 'Claims overdue',
    async find({ db, config, at }) {
      const today = dayIn(at, config.statements.timeZone);
      const late = (await listClaims(db, { state: 'open' })).filter((claim) => isOverdue(claim, today));
      const [first] = late.flatMap(({ deadline }) => deadline ?? []).toSorted();
      if (first === undefined) return [];
      const unknown = late.filter(({ amount }) => amount === null).length;
      return [
        {
          since: new Date(`${first}T00:00:00Z`),
          amounts: addUp(late),
          withoutAmount: unknown,
          summary: `${plural(late.length, 'claim')} of creators ${late.length === 1 ? 'is' : 'are'} not answered, and the day by which ${late.length === 1 ? 'it was' : 'they were'} to be answered is over.${unknown === 0 ? '' : ` The amount of ${unknown} of them is not stated.`}`,
          command: 'npx influencer-sync claims --state open',
          page: '/claims?state=open',
        },
      ];
    },
    over: () => 'No open claim is past its deadline any more.',
  },
  {
    kind: 'ledger_went_back',
    severity: 'error',
    title: 'Ledger lost claims',
    async find({ db, config, at }) {
      const { continuity, problem } = await compare(db, { config });
      if (problem === null) return [];
      return [
        {
          since: at,
          amounts: continuity.kind === 'went_back' ? addUp(continuity.missing.amounts) : [],
          summary: `${maskAddresses(problem.details.message)} No job posts anything until this is settled.`,
          command: "npx influencer-sync ledger recover --reason '…'",
          page: '/',
        },
      ];
    },
    over: () => 'The ledger has every claim again.',
  },
  {
    kind: 'codes_unowned',
    severity: 'warning',
    title: 'Codes without an owner',
    async find({ db, config, isWatched }) {
      const { unownedCodesAbove: limits } = config.notify;
      if (Object.keys(limits).length === 0 && !isWatched) return [];
      const above = (await sumUnownedCodes(db)).filter(
        ({ amount, currency }) =>
          isWatched ||
          (limits[currency] !== undefined && amount !== null && isMore(amount, limits[currency])),
      );
      return [...Map.groupBy(above, ({ job }) => job)].map(([job, sums]) => ({
        job,
        since: new Date(`${sums.map(({ since }) => since).toSorted()[0]}T00:00:00Z`),
        amounts: addUp(sums),
        withoutAmount: countUnknown(sums),
        summary: `Orders of job ${job} carry codes without an owner, so no influencer is credited with their revenue.${isWatched ? '' : ' It exceeds notify.unowned_codes_above.'}`,
        command:
          'npx influencer-sync query "select code, currency, sum(amount), sum(unvalued_orders) as unvalued_orders from bi.unattributed_revenue group by 1, 2 order by 3 desc nulls last"',
        page: '/codes',
      }));
    },
    over: (job) => `The revenue of codes without an owner at ${job} is below notify.unowned_codes_above.`,
  },
];

/** As many reasons as a message names, those of the most orders. */
const NAMED_REASONS = 8;

function sayReasons(groups: readonly HeldGroup[]): string {
  const reasons = [...new Set(groups.map(describeReason))];
  const more = reasons.length - NAMED_REASONS;
  return `${reasons.slice(0, NAMED_REASONS).toSorted().join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function countDeals(sums: readonly UnexplainedSum[]): number {
  return sums.reduce((sum, { deals }) => sum + deals, 0);
}

/** Says of how many deals the amount is unknown, which the amounts of the notice do not have. */
function sayUnknown(sums: readonly UnexplainedSum[]): string {
  const unknown = countUnknown(sums);
  if (unknown === 0) return '';
  return unknown === countDeals(sums)
    ? ' It is unknown how much it is.'
    : ` For ${unknown} of them, it is unknown how much it is.`;
}
