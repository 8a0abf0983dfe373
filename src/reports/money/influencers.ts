import { formatMoney } from '../../core/money.ts';
import type { Block } from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';
import type { FoundInfluencer } from './read-customers.ts';

const RIGHT = { align: 'right' } as const;

/** Describes influencers among the customers who have no deal yet. Nothing if there are none. */
export function describeInfluencers(
  influencers: readonly FoundInfluencer[],
  { hasMore }: { readonly hasMore: boolean },
): readonly Block[] {
  if (influencers.length === 0) return [];
  return [
    {
      kind: 'section',
      title: 'Influencers among customers',
      note: 'without a deal, most followers first',
      why: 'Look-ups in real time found them. Orders and amounts are what the customer bought, according to the export that was read last.',
      parts: [
        {
          kind: 'table',
          columns: [
            { title: 'influencer', cutAt: 'never' },
            { title: 'platform' },
            { title: 'brand' },
            { title: 'followers', ...RIGHT },
            { title: 'orders', ...RIGHT },
            { title: 'spent', ...RIGHT },
          ],
          rows: influencers.map(
            ({ username, platform, brandName, brandId, followers, orders, spent, currency }) => [
              username ?? 'unknown',
              platform ?? '',
              brandName ?? brandId,
              followers === null ? 'unknown' : formatCount(followers),
              orders === null ? 'unknown' : formatCount(orders),
              spent === null ? 'unknown' : formatMoney(spent, currency),
            ],
          ),
        },
        ...(hasMore ? [{ kind: 'aside' as const, text: 'The page Customers of the console has all.' }] : []),
      ],
    },
  ];
}
