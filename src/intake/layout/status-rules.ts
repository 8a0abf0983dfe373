import type { SourceSettings } from '../../config/source-fields.ts';
import type { StatusRules } from '../../core/layout.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { foldWord } from '../values/clean-text.ts';
import { remember } from '../values/remember.ts';
import { mayLackStatus } from './lowering-columns.ts';
import type { Layout } from './to-layout.ts';

/**
 * Works out which statuses count, for runs, plans, previews and checks of files. Every status counts only if the job
 * says `include: any`, or if the format has no status.
 *
 * @param include statuses that the job credits; null: those of the layout.
 */
export function statusRules(
  layout: Layout,
  source: Partial<Pick<SourceSettings, 'missingColumns'>>,
  include: readonly string[] | 'any' | null,
): StatusRules {
  const { words, known, credited } = layout.status;
  const counted = include ?? credited ?? 'any';
  if (counted === 'any') return { credited: 'any', notCredited: [], mayLackColumn: true };
  const count = new Set(counted.map(foldWord));
  const all = [...known, ...(credited ?? []), ...Object.values(words)].map(foldWord);
  return {
    credited: [...count],
    notCredited: [...new Set(all)].filter((status) => !count.has(status)),
    mayLackColumn: include === null && mayLackStatus(layout, source),
  };
}

/** Creates the function that reads the cell of a status: folded, and translated to the word that is used here. */
export function statusReader({ words }: Layout['status']): (cell: string) => string {
  const translated = new Map(Object.entries(words).map(([from, to]) => [foldWord(from), foldWord(to)]));
  return remember((cell) => translated.get(foldWord(cell)) ?? maskAddresses(foldWord(cell)));
}
