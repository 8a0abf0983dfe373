import type { Screen } from './screen.ts';
import { formatCount } from './text.ts';

/** Title of a section, how many there are, and a word about them. */
export function heading(title: string, count: number, note: string, screen: Screen): string {
  return `${screen.style('bold', `${title} (${formatCount(count)})`)}${note === '' ? '' : `: ${note}`}`;
}
