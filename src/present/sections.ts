import { NO_BREAK, wrap } from '../model/text/wrap.ts';
import type { Screen } from './screen.ts';
import { formatCount } from './text.ts';

/** Title of a section, how many there are, and a word about them. */
export function heading(title: string, count: number, note: string, screen: Screen): string {
  return `${screen.style('bold', `${title} (${formatCount(count)})`)}${note === '' ? '' : `: ${note}`}`;
}

/**
 * `7 orders = 4 posted + 3 held`. Parts of which there are none are left out.
 *
 * @param options.blank what stands between the words of a part, so that a line breaks between parts only; a blank where parts are long.
 */
export function formatSum(
  whole: string,
  parts: readonly (readonly [count: number, words: string])[],
  { blank = NO_BREAK }: { readonly blank?: string } = {},
): string {
  const shown = parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${formatCount(count)} ${words}`.replaceAll(' ', blank));
  return `${whole} = ${shown.length === 0 ? '0' : shown.join(' + ')}`;
}

/**
 * Whether the numbers of a run add up: said every time, so that nobody has to check it.
 *
 * @param input.otherwise what follows the equation where they do not.
 */
export function renderSums(
  input: { readonly equation: string; readonly sumsAddUp: boolean; readonly otherwise: string },
  screen: Screen,
): string {
  const { equation, sumsAddUp, otherwise } = input;
  const text = sumsAddUp
    ? `The sums add up: ${equation}.`
    : `THE SUMS DO NOT ADD UP: ${equation}${otherwise}`;
  return screen.style(
    sumsAddUp ? 'dim' : ['red', 'bold'],
    wrap(text, { width: screen.columns, indent: '  ', firstIndent: '' }),
  );
}

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
