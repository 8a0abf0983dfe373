import {
  type ConflictingOrder,
  type ConflictKind,
  RULES,
  type RuleChange,
  type RuleSum,
  type RuleWinner,
} from '../../core/money/conflicts.ts';
import { formatKnown, formatSums } from '../../core/money.ts';
import { shellWord } from '../../core/text/printable.ts';
import {
  type Block,
  column,
  more,
  number,
  type Part,
  type Section,
  say,
  section,
  table,
} from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';

/** Names, for a reader, the evidence that disagrees in each kind of conflict. */
export const CONFLICTS: Readonly<Record<ConflictKind, string>> = {
  named: 'the export names one owner, and a code or link another',
  link_and_code: 'a link and a code',
  codes: 'codes of several owners',
  links: 'links of several owners',
};

/** Explains how each rule decides. */
export const RULES_SAY =
  'First: the first link or code; links come before codes, because a visit comes before the checkout, and otherwise in the order of the export. Last: the last link or code. Explicit: only the owner whom the export names.';

/** Describes a creator with the deal: `mia (deal:D1)`. Returns `no influencer` if the rule credits no owner. */
function describeWinner({ target, influencerHandle }: RuleWinner): string {
  if (target === null) return 'no influencer';
  return influencerHandle === null || target === `handle:${influencerHandle.toLowerCase()}`
    ? target
    : `${influencerHandle} (${target})`;
}

/** Formats what a rule would credit to an owner. */
export function formatRule(sum: RuleSum, rule: (typeof RULES)[number]): string {
  return formatKnown(sum[rule], sum.currency, sum.withoutAmount[rule]);
}

/** Describes what each rule would credit to each owner. */
export function describeRuleSums(
  sums: readonly RuleSum[],
  more: Pick<Section, 'note' | 'commands'>,
): readonly Section[] {
  return section('Revenue of orders in conflict', {
    why: `What each rule would credit. It changes no decision. ${RULES_SAY}`,
    parts: table(sums, [
      column('owner', describeWinner),
      ...RULES.map((rule) => number(rule, (sum: RuleSum) => formatRule(sum, rule))),
    ]),
    ...more,
  });
}

/** Describes orders with evidence for several owners, for the terminal. */
export function describeConflicts(
  { orders, sums }: { orders: readonly ConflictingOrder[]; sums: readonly RuleSum[] },
  { hasMore }: { hasMore: boolean },
): readonly Block[] {
  const [first] = orders;
  if (first === undefined) return [say('No order has evidence for more than one owner.', { tone: 'green' })];
  return [
    ...describeRuleSums(sums, {
      commands: {
        about: 'what another rule would credit; to use it, set `attribution` of the job',
        lines: [`npx influencer-sync conflicts preview last --job ${shellWord(first.job)}`],
      },
    }),
    ...section('Orders with evidence for several owners', {
      note: 'newest first',
      parts: [
        table(orders, [
          column('day', ({ day }) => day),
          column('order', ({ orderId }) => orderId),
          number('amount', ({ amount, currency }) => formatKnown(amount, currency)),
          column('credited', ({ credited, disposition }) =>
            credited.target === null ? disposition : describeWinner(credited),
          ),
          column('evidence', ({ evidence }) => evidence),
        ]),
        ...more(hasMore, `These are ${plural(orders.length, 'order')}: --limit shows more.`),
      ],
      commands: {
        about: 'the history of one of them',
        lines: [`npx influencer-sync explain order ${shellWord(first.orderId)}`],
      },
    }),
  ];
}

/** Describes what a rule would decide otherwise than a job has decided. */
export function describeRuleChanges(
  changes: readonly RuleChange[],
  { job, rule, now }: { job: string; rule: string; now: string },
): readonly Block[] {
  if (changes.length === 0)
    return [say(`By ${rule}, ${job} decides every order as it has decided it (${now}).`, { tone: 'green' })];
  const part = (isSent: boolean): Part =>
    table(
      changes.filter((change) => change.isSent === isSent),
      [
        column('now', ({ before }) => before),
        column(`by ${rule}`, ({ after }) => after),
        number('orders', ({ orders }) => formatCount(orders)),
        number('amount', (change) => formatSums([change])),
      ],
    );
  return [
    ...section(`Orders of ${job} that ${rule} decides otherwise`, {
      why: 'They were not sent. With this rule, the next run posts those that have an owner.',
      parts: part(false),
    }),
    ...section('Posted orders that it decides otherwise', {
      why: 'The service cannot correct an order: nothing is sent for them. The next run records each as an adjustment, so that you can settle the difference.',
      parts: part(true),
      tone: 'alarm',
    }),
    say(`Nothing was changed. To use the rule, write attribution: ${rule} under jobs.${job}.`),
  ];
}
