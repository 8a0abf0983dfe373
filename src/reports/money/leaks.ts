import type { LeakedCode } from '../../core/money/leak.ts';
import { type Block, item, say, section } from '../../render/block.ts';
import { plural } from '../../render/text.ts';

/** Describes the codes that may have leaked, with the evidence for each. */
export function describeLeaks(leaks: readonly LeakedCode[]): readonly Block[] {
  if (leaks.length === 0) return [say('No code was used in an unusual way in the last four weeks.')];
  const isOpen = leaks.some(({ acknowledged }) => acknowledged === null);
  return section('Codes that may have leaked', {
    count: leaks.length,
    why: 'More orders with the code than usual carry no link of its creator, and their share is larger than usual. A code on a coupon site looks like that, and so does one that was read out in a podcast.',
    parts: leaks.map((leak) => item(describeLeak(leak))),
    help: 'Search for the code on the web. If it has leaked, give the creator another code. No order is withheld.',
    commands: isOpen
      ? {
          about: 'it is not a leak, or you have dealt with it',
          lines: ["npx influencer-sync leaks acknowledge <code> --reason '…'"],
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
  return `${code}${whose.length === 0 ? '' : ` (${whose.join(', ')})`}, since ${since}: ${withoutLink} of ${plural(orders, 'order')} in ${plural(days, 'day')} without a link; usually ${formatUsual(usualWithoutLink)}, and ${formatShare(usualShare)} of all orders. ${customers}${seen}`;
}

/** Formats a mean count, with a decimal if it is small: `0.4`, `12`. */
export function formatUsual(mean: number): string {
  return mean < 10 ? String(Math.round(mean * 10) / 10) : String(Math.round(mean));
}

/** Formats a share in whole percent: `0.734` → `73 %`. */
export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}
