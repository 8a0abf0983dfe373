import type { Layout } from '../../model/layout.ts';
import { foldWord } from '../values/clean-text.ts';

/** Which statuses of orders count. Runs, plans, previews and checks of files all ask this function. */
export type StatusRules = {
  /** Statuses that are credited, folded. `any`: every status, and none. */
  readonly credited: readonly string[] | 'any';
  /** Statuses that are known and not credited, folded. Orders with any other status, or with none, are held. */
  readonly notCredited: readonly string[];
};

/**
 * Works out which statuses count. Every status counts only if the job says `include: any`, or if the format has no
 * status.
 *
 * @param include statuses that the job credits; null: those of the layout.
 */
export function statusRules(
  { words, known, credited }: Layout['status'],
  include: readonly string[] | 'any' | null,
): StatusRules {
  const counted = include ?? credited ?? 'any';
  if (counted === 'any') return { credited: 'any', notCredited: [] };
  const count = new Set(counted.map(foldWord));
  const all = [...known, ...(credited ?? []), ...Object.values(words)].map(foldWord);
  return { credited: [...count], notCredited: [...new Set(all)].filter((status) => !count.has(status)) };
}
