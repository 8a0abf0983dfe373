import type { LeakedCode } from '../../core/money/leak.ts';
import { formatAtLeast, formatMoney, isMore, subtractMoney, sumMoney } from '../../core/money.ts';
import { DAY_MS } from '../../core/time/day.ts';
import type { VoidedMonth, VoidPreview } from '../../money/leaks/preview-void.ts';
import { type Block, item, number, say, section, table, whole } from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import { differenceOf, earned } from './replay.ts';

/** What every code that may have leaked has in common, and what it may be instead. */
export const LEAK_SIGNS =
  'More orders with the code than usual carry no link of its creator, and their share is larger than usual. A code on a coupon site looks like that, and so does one that was read out in a podcast.';

/** Describes the codes that may have leaked, with the evidence for each. */
export function describeLeaks(leaks: readonly LeakedCode[]): readonly Block[] {
  if (leaks.length === 0) return [say('No code was used in an unusual way in the last four weeks.')];
  const isOpen = leaks.some(({ acknowledged }) => acknowledged === null);
  return section('Codes that may have leaked', {
    count: leaks.length,
    why: LEAK_SIGNS,
    parts: leaks.map((leak) => item(describeLeak(leak))),
    help: 'Search for the code on the web. If it has leaked, give the creator another code. No order is withheld.',
    commands: isOpen
      ? {
          about: 'what it would change if the code earned nothing any more, or it is not a leak',
          lines: [
            'npx influencer-sync leaks void <code> --dry-run',
            "npx influencer-sync leaks acknowledge <code> --reason '…'",
          ],
        }
      : null,
  });
}

/** The evidence for one code in a sentence or two. */
export function describeLeak(leak: LeakedCode): string {
  const { code, dealId, influencerHandle, since, days, orders, withoutLink, usualWithoutLink, usualShare } =
    leak;
  const whose = [influencerHandle, dealId === null ? null : `deal ${dealId}`].filter((part) => part !== null);
  const customers =
    leak.known === 0
      ? 'Whether they had ordered before is unknown (customer_key).'
      : `Of ${plural(leak.known, 'known customer')}, ${leak.returning} had ordered before.`;
  const seen =
    leak.acknowledged === null ? '' : ` Acknowledged by ${leak.acknowledged.by}: ${leak.acknowledged.reason}`;
  return `${code}${whose.length === 0 ? '' : ` (${whose.join(', ')})`}, since ${since}: ${withoutLink} of ${plural(orders, 'order')} in ${plural(days, 'day')} without a link; usually ${formatUsual(usualWithoutLink)}, and ${Math.round(usualShare * 100)} % of all orders. ${customers} ${describeStart(leak)}${seen}`;
}

/** When a leak began. */
export function describeStart({ began }: Pick<LeakedCode, 'began'>): string {
  if (began === null) return 'When it began cannot be known.';
  const { from, likeliest, to } = began;
  return from === to
    ? `It began on ${from}.`
    : `It began from ${from} to ${to}, most likely on ${likeliest} (90 % certain).`;
}

/** A void that takes more of the creator's own orders than this share of all is a warning. */
const FEW = 0.1;

/**
 * Describes what a void of a code does: which orders, how much money, and the statements.
 * @param leak null: the code is not flagged, so how it is usually used is not known.
 */
export function describeVoid(preview: VoidPreview, leak: LeakedCode | null): readonly Block[] {
  const { code, day, orders, withoutLink, months, file, row, ended, isWritten } = preview;
  const linked = orders - withoutLink;
  const own = leak === null ? null : ownOrders(preview, leak);
  const isCostly = own === null ? linked > FEW * orders : own > FEW * orders;
  return [
    ...section(`If ${code} earns nothing from ${day}`, {
      why: `A void takes the commission of every order by the code, with or without a link: a row of the terms with the rate 0. What is closed stays, and the next statement has corrections.`,
      parts: [
        item(
          `${plural(orders, 'order')} with the code since then: ${formatCount(linked)} with a link of the creator, ${formatCount(withoutLink)} without. Those that earn by something else, or nothing, are among them.`,
        ),
        ...(own === null && linked === 0
          ? []
          : [item(ownWords(own ?? linked, { isAll: own !== null, isCostly }))]),
        ...(leak === null
          ? []
          : [
              item(
                `Usually the code has ${formatUsual(leak.usualOrders / leak.days)} orders a day. A void takes those to come as well, until a later row of the terms ends it.`,
              ),
            ]),
        ...STATES.flatMap(([state, words]) => {
          const of = months.filter((one) => one.state === state);
          return of.length === 0 ? [] : [item(`${words}: ${sumsOf(of)}.`)];
        }),
        ...(months.length === 0
          ? [item('No statement changes: its orders earn nothing, or none was accepted.')]
          : []),
        table(months, [
          whole('month', ({ month }) => month),
          whole('deal', ({ dealId, code: of }) => dealId ?? of),
          whole('creator', ({ influencerHandle }) => influencerHandle),
          number('today', ({ today, currency }) => earned(today, currency)),
          number('with the void', ({ draft, currency }) => earned(draft, currency)),
          number('difference', differenceOf),
          whole('how', ({ state }) =>
            state === 'closed' ? 'correction' : state === 'over' ? 'open' : 'pending',
          ),
        ]),
      ],
      help: isWritten
        ? `${file ?? 'terms.csv'} has this row already, and only the record of the decision is missing: ${row}`
        : `${file ?? 'terms.csv'}: ${ended.length === 0 ? '' : `line ${ended.join(', ')} ends the day before, and `}this row is added: ${row}`,
    }),
  ];
}

function ownWords(own: number, { isAll, isCostly }: { isAll: boolean; isCostly: boolean }) {
  const count = own === 0 ? 'None' : `${isAll ? 'About' : 'At least'} ${formatCount(own)}`;
  const warning = isCostly ? ': a void takes them, too. Another code for the creator takes none of them' : '';
  return `${count} of them ${own <= 1 ? 'seems' : 'seem'} to be of the creator’s own followers${warning}.`;
}

const STATES = [
  ['closed', 'In closed statements, so the next one takes it back'],
  ['over', 'In months that are over and not closed'],
  ['pending', 'In months that are not over'],
] as const;

/** Orders of the creator's own followers: all with a link, and as many others as are usual in as many days. */
function ownOrders(
  { orders, withoutLink, day }: VoidPreview,
  { usualWithoutLink, days, day: last }: LeakedCode,
): number {
  const since = Math.max(0, last + 1 - Date.parse(day) / DAY_MS);
  return orders - withoutLink + Math.min(withoutLink, Math.round((usualWithoutLink / days) * since));
}

function sumsOf(months: readonly VoidedMonth[]): string {
  return [...Map.groupBy(months, ({ currency }) => currency)]
    .map(([currency, of]) => {
      const known = of.filter((one) => one.today.unknown === 0);
      const unknown = of.reduce((sum, one) => sum + one.today.unknown, 0);
      const sum = sumMoney(known.map(({ today, draft }) => subtractMoney(today.amount, draft.amount)));
      return isMore(sum, '0') || unknown === 0
        ? formatAtLeast(formatMoney(sum, currency), unknown)
        : `unknown ${currency}`;
    })
    .join(', ');
}

/** Formats a mean count, with a decimal if it is small: `0.4`, `12`. */
function formatUsual(mean: number): string {
  return mean < 10 ? String(Math.round(mean * 10) / 10) : String(Math.round(mean));
}
