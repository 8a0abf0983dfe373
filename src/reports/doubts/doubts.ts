import type { DoubleCredit, Doubt, Evidence } from '../../core/ledger.ts';
import type { DoubtHint } from '../../core/money/reconciliation.ts';
import { formatAmounts, formatMoney, isSameAmount, type Money } from '../../core/money.ts';
import type { DoubtDetails, RunReport } from '../../core/report.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import {
  type Block,
  type Commands,
  facts,
  item,
  type Part,
  type Section,
  say,
  section,
} from '../../render/block.ts';
import { formatDuration, plural } from '../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF } from './doubt-hints.ts';

/** Describes each doubt with amount, age and evidence, and how to settle it. */
export function describeAllDoubts({
  doubts,
  hints = new Map(),
  doubleCredits = [],
}: {
  readonly doubts: readonly Doubt[];
  /** What totals suggest, by entry. */
  readonly hints?: ReadonlyMap<string, DoubtHint>;
  readonly doubleCredits?: readonly DoubleCredit[];
}): readonly Block[] {
  const credits = describeDoubleCredits(doubleCredits);
  if (doubts.length === 0) return credits.length > 0 ? credits : [say('No order is in doubt.')];
  const noun = doubts.every(({ effect }) => effect === 'referral') ? 'order' : 'request';
  const why =
    'The service may have credited them, but no answer says so. Look up each order in the service; nothing is sent again automatically.';
  const command = 'npx influencer-sync review <entry>';
  return [
    ...credits,
    ...section(`${plural(doubts.length, noun)} in doubt`, { note: formatAmounts(amountsOf(doubts)), why }),
    ...doubts.map((doubt) => describeInFull(doubt, hints.get(doubt.entryId) ?? null)),
    ...(hints.size === 0 ? [] : [say(HINT_IS_NO_PROOF)]),
    ...section('To settle one', {
      commands: {
        about: `the service shows it${doubts.some(lacksDeal) ? ' (with --deal ID if the deal is unknown)' : ''}`,
        lines: [
          `${command} --accepted --reason '…'`,
          '# it does not: send it again',
          `${command} --resend --reason '…'`,
          '# you cannot determine it: write it off',
          `${command} --write-off --reason '…'`,
        ],
      },
    }),
  ];
}

function amountsOf(
  of: readonly { readonly amount: string | null; readonly currency: string | null }[],
): readonly Money[] {
  return of.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }]));
}

const SHOWN_CREDITS = 20;

/** Describes orders that the service accepted more than once, with the amounts. */
export function describeDoubleCredits(credits: readonly DoubleCredit[]): readonly Section[] {
  const extra = credits.flatMap((credit) => Array.from({ length: credit.credits - 1 }, () => credit));
  return section('Credited more than once', {
    of: credits.length,
    note: `${formatAmounts(amountsOf(extra))} too much`,
    tone: 'alarm',
    parts: credits.slice(0, SHOWN_CREDITS).map((credit) => {
      const deal = credit.dealId === null ? '' : `, deal ${credit.dealId}`;
      return item(`${nameOf(credit)}, accepted ${credit.credits} times${deal}`);
    }),
    commands: {
      about: 'correct each in the service, then acknowledge it',
      lines: ["npx influencer-sync review <entry> --acknowledge --reason '…'"],
    },
  });
}

/** Names an entry with its order and amount: `entry 17: order 1005, 10.00 EUR`. */
function nameOf({ entryId, orderId, subject, amount, currency }: DoubleCredit | Doubt): string {
  const money = amount === null ? '' : `, ${formatMoney(amount, currency)}`;
  return `entry ${entryId}: ${orderId === null ? subject : `order ${orderId}`}${money}`;
}

/** Describes a doubt in one or two lines. */
export function describeDoubt(doubt: Doubt): Part {
  return item(`${nameOf(doubt)}, ${formatDuration(doubt.ageSeconds)} ago: ${doubt.reason}`);
}

/**
 * Describes the doubts of a run and its double credits. (A report counts double credits among its doubts.)
 *
 * @param more.note the amounts of all doubts, if not all are listed.
 * @param more.why what may have happened. The sentence that nothing is sent again is added here.
 * @param more.todo what to do, such as `look up each order in the service, then settle it`.
 */
export function describeRunDoubts(
  { doubts: all, details }: RunReport & { readonly details: DoubtDetails },
  { note = '', why, todo }: { note?: string; why: string; todo: string },
): readonly Section[] {
  const { doubts, doubleCredits } = details;
  const count = all - doubleCredits.length;
  return [
    ...section('Doubts', {
      of: count,
      note: doubts.length < count ? note : formatAmounts(amountsOf(doubts)),
      why: `${why} They are not sent again automatically.`,
      parts: doubts.map(describeDoubt),
      commands: reviewCommand(todo),
    }),
    ...describeDoubleCredits(doubleCredits),
  ];
}

/** The command for settling doubts. */
export function reviewCommand(todo: string): Commands {
  return { about: todo, lines: ['npx influencer-sync review'] };
}

/** @returns true if the order was sent for a handle and it is unknown which deal the service credited. */
function lacksDeal({ dealId, collabId, evidence }: Doubt): boolean {
  return dealId === null && collabId === null && evidence.every((one) => one.dealId === null);
}

function describeInFull(doubt: Doubt, hint: DoubtHint | null): Block {
  const amount = doubt.amount === null ? '' : `, ${formatMoney(doubt.amount, doubt.currency)}`;
  const whose = [
    doubt.influencerHandle === null ? '' : `influencer ${doubt.influencerHandle}`,
    doubt.dealId === null ? (lacksDeal(doubt) ? 'deal unknown' : '') : `deal ${doubt.dealId}`,
    doubt.collabId === null ? '' : `collaboration ${doubt.collabId}`,
  ];
  const evidence = doubt.evidence.map(
    (one) => `${formatInstant(one.receivedAt)} ${describeEvidence(one, doubt)}`,
  );
  const since = `${formatInstant(doubt.since)} UTC, ${formatDuration(doubt.ageSeconds)} ago, after ${plural(doubt.attempts, 'attempt')}`;
  return say(`entry ${doubt.entryId}: ${doubt.subject}${amount}`, {
    tone: 'bold',
    parts: [
      facts([
        ['for', joinFacts(whose)],
        ['since', since],
        ['why', doubt.reason],
        ['evidence', evidence.join('; ') || 'none'],
        ['totals', hint === null ? null : describeHint(hint)],
      ]),
    ],
  });
}

/** What evidence says about an entry, and whether its amount or currency is not what was sent. */
export function describeEvidence(
  { kind, dealId, amount, currency, isLegible }: Evidence,
  sent: Pick<Doubt, 'amount' | 'currency'>,
): string {
  const isOther =
    (amount !== null && sent.amount !== null && !isSameAmount(amount, sent.amount)) ||
    (currency !== null && sent.currency !== null && currency !== sent.currency);
  return joinFacts([
    kind === 'webhook_other' ? 'event of another kind' : kind.replaceAll('_', ' '),
    dealId === null ? '' : `deal ${dealId}`,
    amount === null ? '' : formatMoney(amount, currency),
    isLegible ? '' : 'but it states something that cannot be read: look at the order in the service',
    isOther
      ? `but ${sent.amount === null ? sent.currency : formatMoney(sent.amount, sent.currency)} was sent: look which order the service has`
      : '',
  ]);
}

/** Joins the facts of one line, leaving out empty ones. */
export function joinFacts(all: readonly string[]): string {
  return all.filter((fact) => fact !== '').join(', ');
}
