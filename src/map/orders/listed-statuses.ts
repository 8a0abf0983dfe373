import type { Layout } from '../../model/layout.ts';
import { foldWord } from '../values/clean-text.ts';

/**
 * Every word that an order's status may be without surprise, as orders carry it: those that the layout knows, translates to or excludes,
 * and those that are credited.
 */
export function listedStatuses(layout: Layout, credited: readonly string[]): readonly string[] {
  const { status, exclusions, columns } = layout;
  const isOfStatus = (names: readonly string[]): boolean =>
    names.some((name) => columns.status?.includes(name) === true);
  const excluded = exclusions.flatMap((rule) => (isOfStatus(rule.columns) ? (rule.equals ?? []) : []));
  const words = [...status.known, ...Object.values(status.words), ...credited, ...excluded];
  return [...new Set(words.map(foldWord))];
}
