import type { DoubleCredit, Doubt } from '../../core/ledger.ts';
import type { DoubtHint } from '../../core/money/reconciliation.ts';
import { formatAmounts, formatMoney } from '../../core/money.ts';
import type { DoubtDetails, RunReport } from '../../core/report.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Commands, Part, Section } from '../../render/block.ts';
import { renderBlocks } from '../../render/render-blocks.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatDuration, plural } from '../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF } from './doubt-hints.ts';

/** Renders each doubt with amount, age and evidence, and how to settle it. */
export function renderDoubts(
  {
    doubts,
    hints = new Map(),
    doubleCredits = [],
  }: {
    readonly doubts: readonly Doubt[];
    /** What totals suggest, by entry. */
    readonly hints?: ReadonlyMap<string, DoubtHint>;
    readonly doubleCredits?: readonly DoubleCredit[];
  },
  terminal: Terminal,
): string {
  const credits = renderBlocks(describeDoubleCredits(doubleCredits), terminal);
  if (doubts.length === 0) return credits === '' ? 'No order is in doubt.\n' : `${credits}\n`;
  const amounts = formatAmounts(
    doubts.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }])),
  );
  const why =
    'The service may have credited them, but no answer says so. Look up each order in the service; nothing is sent again automatically.';
  const command = 'npx influencer-sync review <entry>';
  return `${[
    ...(credits === '' ? [] : [credits, '']),
    `${terminal.style('bold', `${plural(doubts.length, doubts.every(({ effect }) => effect === 'referral') ? 'order' : 'request')} in doubt`)}${amounts === '' ? '' : `: ${amounts}`}`,
    wrap(why, { width: terminal.columns, indent: '' }),
    '',
    ...doubts.map((doubt) => renderDoubt(doubt, hints.get(doubt.entryId) ?? null, terminal)),
    ...(hints.size === 0 ? [] : [wrap(HINT_IS_NO_PROOF, { width: terminal.columns, indent: '' }), '']),
    'To settle one:',
    terminal.style(
      'dim',
      `  # the service shows it${doubts.some(lacksDeal) ? ' (with --deal ID if the deal is unknown)' : ''}`,
    ),
    `  ${command} --accepted --reason '…'`,
    terminal.style('dim', '  # it does not: send it again'),
    `  ${command} --resend --reason '…'`,
    terminal.style('dim', '  # you cannot determine it: write it off'),
    `  ${command} --write-off --reason '…'`,
  ].join('\n')}\n`;
}

/** Describes orders that the service accepted more than once, with the amounts. */
export function describeDoubleCredits(credits: readonly DoubleCredit[]): readonly Section[] {
  if (credits.length === 0) return [];
  const extra = credits.flatMap(({ amount, currency, credits: times }) =>
    amount === null ? [] : Array.from({ length: times - 1 }, () => ({ amount, currency })),
  );
  const parts = credits
    .slice(0, SHOWN_CREDITS)
    .map(({ entryId, orderId, subject, amount, currency, dealId, credits: times }) => {
      const about = orderId === null ? subject : `order ${orderId}`;
      const money = amount === null ? '' : `, ${formatMoney(amount, currency)}`;
      const deal = dealId === null ? '' : `, deal ${dealId}`;
      return {
        kind: 'item',
        text: `entry ${entryId}: ${about}${money}, accepted ${times} times${deal}`,
      } as const;
    });
  return [
    {
      kind: 'section',
      title: 'Credited more than once',
      count: credits.length,
      note: `${formatAmounts(extra)} too much`,
      tone: 'alarm',
      parts,
      shown: parts.length,
      commands: {
        about: 'correct each in the service, then acknowledge it',
        lines: ["npx influencer-sync review <entry> --acknowledge --reason '…'"],
      },
    },
  ];
}

const SHOWN_CREDITS = 20;

/** Describes a doubt in one or two lines. */
export function describeDoubt(doubt: Doubt): Part {
  const amount = doubt.amount === null ? '' : `, ${formatMoney(doubt.amount, doubt.currency)}`;
  const about = doubt.orderId === null ? doubt.subject : `order ${doubt.orderId}`;
  const text = `entry ${doubt.entryId}: ${about}${amount}, ${formatDuration(doubt.ageSeconds)} ago: ${doubt.reason}`;
  return { kind: 'item', text };
}

/**
 * Describes the doubts of a run.
 *
 * @param section.count the total number, listed or not.
 * @param section.why what may have happened. The sentence that nothing is sent again is added here.
 * @param section.todo what to do, such as `look up each order in the service, then settle it`.
 */
export function describeDoubts(section: {
  readonly doubts: readonly Doubt[];
  readonly count: number;
  readonly note?: string;
  readonly why: string;
  readonly todo: string;
}): readonly Section[] {
  const { doubts, count, note = '', why, todo } = section;
  if (doubts.length === 0) return [];
  return [
    {
      kind: 'section',
      title: 'Doubts',
      count,
      note,
      why: `${why} They are not sent again automatically.`,
      parts: doubts.map(describeDoubt),
      shown: doubts.length,
      commands: reviewCommand(todo),
    },
  ];
}

/** The doubts that a report lists, and their number. (A report counts double credits among its doubts.) */
export function doubtsListed({ doubts, details }: RunReport & { readonly details: DoubtDetails }): {
  readonly doubts: readonly Doubt[];
  readonly count: number;
} {
  return { doubts: details.doubts, count: doubts - details.doubleCredits.length };
}

/** The command for settling doubts. */
export function reviewCommand(todo: string): Commands {
  return { about: todo, lines: ['npx influencer-sync review'] };
}

/** @returns true if the order was sent for a handle and it is unknown which deal the service credited. */
function lacksDeal({ dealId, collabId, evidence }: Doubt): boolean {
  return dealId === null && collabId === null && evidence.every((one) => one.dealId === null);
}

function renderDoubt(doubt: Doubt, hint: DoubtHint | null, terminal: Terminal): string {
  const amount = doubt.amount === null ? '' : `, ${formatMoney(doubt.amount, doubt.currency)}`;
  const title = `entry ${doubt.entryId}: ${doubt.subject}${amount}`;
  const whose = [
    doubt.influencerHandle === null ? '' : `influencer ${doubt.influencerHandle}`,
    doubt.dealId === null ? (lacksDeal(doubt) ? 'deal unknown' : '') : `deal ${doubt.dealId}`,
    doubt.collabId === null ? '' : `collaboration ${doubt.collabId}`,
  ].filter((part) => part !== '');
  const evidence = doubt.evidence.map(({ kind, dealId, amount: named, currency, receivedAt }) =>
    [
      `${formatInstant(receivedAt)} ${kind.replaceAll('_', ' ')}`,
      dealId === null ? '' : `deal ${dealId}`,
      named === null ? '' : formatMoney(named, currency),
    ]
      .filter((part) => part !== '')
      .join(', '),
  );
  const line = (name: string, text: string): string =>
    wrap(text, { width: terminal.columns, firstIndent: `  ${name.padEnd(10)}`, indent: ' '.repeat(12) });
  return [
    terminal.style('bold', wrap(title, { width: terminal.columns, indent: '  ', firstIndent: '' })),
    ...(whose.length === 0 ? [] : [line('for', whose.join(', '))]),
    line(
      'since',
      `${formatInstant(doubt.since)} UTC, ${formatDuration(doubt.ageSeconds)} ago, after ${plural(doubt.attempts, 'attempt')}`,
    ),
    line('why', doubt.reason),
    line('evidence', evidence.length === 0 ? 'none' : evidence.join('; ')),
    ...(hint === null ? [] : [line('totals', describeHint(hint))]),
    '',
  ].join('\n');
}
