import { formatCount } from './text.ts';

/** `refunded 12, too old 3`: how many orders for which reason, the most frequent first. */
export function formatReasons(
  groups: readonly { readonly reason: string | null; readonly orders: number }[],
): string {
  const counts = new Map<string, number>();
  for (const { reason, orders } of groups)
    counts.set(reason ?? 'other', (counts.get(reason ?? 'other') ?? 0) + orders);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${reason.replaceAll('_', ' ')} ${formatCount(count)}`)
    .join(', ');
}
