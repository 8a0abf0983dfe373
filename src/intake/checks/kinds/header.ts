import type { Expectations } from '../../../config/source-fields.ts';
import type { HeaderAction, HeaderChange } from '../../../core/checks/expectations.ts';
import { plural } from '../../../core/text/plural.ts';
import { toPrintableLine } from '../../../core/text/printable.ts';
import { type Check, type Judgement, judged, learning } from '../check.ts';

/**
 * Compares the columns of a file with those of the latest earlier file, unless any earlier file had exactly
 * the same columns. The files of the first day are only learned from. By then, a tool that exports two kinds
 * of files, such as subscribed and unsubscribed members, has sent both.
 */
export const header: Check = {
  name: 'header',
  judge({ seen, history, expectations }) {
    const text = plural(seen.header.length, 'column');
    const latest = history.findLast((file) => file.header.length > 0);
    const [oldest] = history;
    const isTaught = oldest !== undefined && oldest.day < seen.day;
    if (latest === undefined || !isTaught) return [learning(text, { have: 0, need: 1 })];
    const isKnown = history.some(({ headerHash }) => headerHash === seen.headerHash);
    const changes = isKnown ? [] : compareHeaders(latest.header, seen.header);
    if (changes.length === 0) return [judged(text, 'as before', null)];
    return changes.map((change) => toJudgement(change, expectations));
  },
};

/** The change of one column. `from` is its previous name if it was renamed. */
export type ColumnChange = { readonly change: HeaderChange; readonly column: string; readonly from?: string };

/**
 * Compares two headers. A removed column with a new one in its place counts as renamed. Moved columns are one
 * change, reported with the first of them.
 */
export function compareHeaders(before: readonly string[], now: readonly string[]): readonly ColumnChange[] {
  const [earlier, later] = [tellApart(before), tellApart(now)];
  const [wasThere, isThere] = [new Set(earlier), new Set(later)];
  const isRenamed = (place: number): boolean => {
    const [old, fresh] = [earlier[place], later[place]];
    const areBoth = old !== undefined && fresh !== undefined;
    return areBoth && earlier.length === later.length && !isThere.has(old) && !wasThere.has(fresh);
  };
  const changes: ColumnChange[] = [];
  for (const [place, column] of later.entries()) {
    if (wasThere.has(column)) continue;
    const from = earlier[place];
    if (isRenamed(place) && from !== undefined) changes.push({ change: 'renamed', column, from });
    else changes.push({ change: 'new', column });
  }
  for (const [place, column] of earlier.entries())
    if (!isThere.has(column) && !isRenamed(place)) changes.push({ change: 'gone', column });
  const kept = earlier.filter((column) => isThere.has(column));
  const keptNow = later.filter((column) => wasThere.has(column));
  const moved = keptNow.find((column, place) => kept[place] !== column);
  return moved === undefined ? changes : [...changes, { change: 'reordered', column: moved }];
}

/** Makes duplicate names distinct: the second column of a name becomes `name (2)`. */
function tellApart(names: readonly string[]): readonly string[] {
  const times = new Map<string, number>();
  return names.map((name) => {
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    return time === 1 ? name : `${name} (${time})`;
  });
}

const SENTENCES: Readonly<Record<HeaderChange, (column: string, from: string) => string>> = {
  new: (column) => `The column ${column} is new.`,
  gone: (column) => `The column ${column} is gone.`,
  renamed: (column, from) => `The column ${from} is now called ${column}.`,
  reordered: (column) => `The columns stand in another order, from ${column} on.`,
};

function toJudgement(
  { change, column, from = '' }: ColumnChange,
  { header: actions }: Expectations,
): Judgement {
  const action = actions.columns[column] ?? actions.columns[from] ?? actions[change];
  const quote = (name: string) => `"${toPrintableLine(name)}"`;
  const seen = change;
  if (action === 'accept') return { ...judged(seen, 'accepted', null), subject: column };
  const message = SENTENCES[change](quote(column), quote(from));
  return { ...judged(seen, 'as before', { message }), subject: column, action };
}

/** Returns the strictest action that a change of the header can have. */
export function strictestHeaderAction({ header: { columns, ...changes } }: Expectations): HeaderAction {
  const all = [...Object.values(columns), ...Object.values(changes)];
  return all.includes('hold') ? 'hold' : all.includes('warn') ? 'warn' : 'accept';
}
