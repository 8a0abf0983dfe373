import { type HeldReason, heldReason } from '../../core/held/held-order.ts';
import { formatAmounts, formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import type { Part, Section } from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { HeldGroup, HeldOrder } from './held-orders.ts';

const SHOWN_GROUPS = 12;

type Shown = {
  readonly groups: readonly HeldGroup[];
  /** The orders themselves, if they are listed. */
  readonly orders?: readonly HeldOrder[];
};

/**
 * Describes held orders: why each group is held, how much money it is, and what to do. Orders that were posted before
 * are apart: they stay posted.
 */
export function describeHeldOrders({ groups, orders = [] }: Shown): readonly Section[] {
  const waiting = groups.filter((group) => group.orders > 0);
  const sent = groups.filter((group) => group.sent > 0);
  return [
    ...(waiting.length === 0
      ? []
      : [
          {
            kind: 'section',
            title: 'Held orders',
            count: waiting.reduce((sum, group) => sum + group.orders, 0),
            note: formatAmounts(waiting),
            why: 'They name an influencer, but something that decides about their credit is not known. They are not posted until better data or your decision settles it.',
            parts: [...waiting.slice(0, SHOWN_GROUPS).map(itemOf), ...moreOf(waiting), ...tableOf(orders)],
            commands: {
              about: 'to see the orders, and to decide about one or many',
              lines: [
                'npx influencer-sync review --held',
                ...(orders.length === 0 ? [] : commandsOf(waiting)),
              ],
            },
          } as const,
        ]),
    ...(sent.length === 0
      ? []
      : [
          {
            kind: 'section',
            title: 'Posted, and held by the rules of today',
            count: sent.reduce((sum, group) => sum + group.sent, 0),
            why: 'These orders were posted before the tool knew what is missing. They stay posted and nothing is sent. Check whether they were credited rightly.',
            parts: sent.slice(0, SHOWN_GROUPS).map((group) => ({
              kind: 'item' as const,
              text: `${plural(group.sent, 'order')} of ${group.source}, ${formatMoney(group.sentAmount, group.currency)}: ${describeReason(group)}`,
            })),
          } as const,
        ]),
  ];
}

/** Says in a few words why a group is held: `status "shipped" is not known`. */
export function describeReason({ reason, status }: Pick<HeldGroup, 'reason' | 'status'>): string {
  if (status === null) return reason.replaceAll('_', ' ');
  return status === '' ? 'they have no status' : `status "${status}" is not known`;
}

function itemOf(group: HeldGroup): Part {
  const { what, fix }: HeldReason = heldReason(group.reason);
  return {
    kind: 'item',
    text: `${plural(group.orders, 'order')} of ${group.source}, ${formatMoney(group.amount, group.currency)}: ${describeReason(group)}`,
    help: `${what}. ${fix}`,
  };
}

function moreOf(groups: readonly HeldGroup[]): readonly Part[] {
  const more = groups.length - SHOWN_GROUPS;
  return more > 0 ? [{ kind: 'aside', text: `and ${plural(more, 'more group', 'more groups')}` }] : [];
}

function tableOf(orders: readonly HeldOrder[]): readonly Part[] {
  if (orders.length === 0) return [];
  const columns = [
    { title: 'order', cutAt: 'never' },
    { title: 'source' },
    { title: 'held because' },
    { title: 'carries' },
    { title: 'placed (UTC)', cutAt: 'never' },
    { title: 'amount', align: 'right' },
    { title: 'stated in' },
  ] as const;
  const rows = orders.map(
    ({ orderId, source, reason, status, carries, placedAt, amount, currency, uri, line }) => [
      orderId,
      source,
      reason === 'unknown_status' ? describeReason({ reason, status: status ?? '' }) : reason,
      carries ?? '',
      placedAt === null ? 'unknown' : formatInstant(placedAt).slice(0, 16),
      amount === null ? 'unknown' : formatMoney(amount, currency),
      `${fileName(uri)} line ${formatCount(line)}`,
    ],
  );
  return [{ kind: 'table', columns, rows }];
}

/** Commands that decide about each group: what crediting confirms, or that it is excluded. */
function commandsOf(groups: readonly HeldGroup[]): readonly string[] {
  return groups.slice(0, SHOWN_GROUPS).flatMap((group) => {
    const { confirms } = heldReason(group.reason);
    const select = `npx influencer-sync review --held --source ${group.source} --why ${group.reason}${group.status === null ? '' : ` --status '${group.status.replaceAll("'", '')}'`}`;
    return [
      ...(confirms === null ? [] : [`${select} --credit --reason '…'   # you confirm: ${confirms}`]),
      `${select} --exclude --reason '…'   # they are never credited`,
    ];
  });
}
