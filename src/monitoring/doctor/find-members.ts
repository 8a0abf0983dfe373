import { isObject } from '../../core/text/exact-json.ts';

/** A value in an answer, and its path of member names. */
export type Member = { readonly path: string; readonly value: unknown };

/** Deeper answers are not searched. */
const MAX_DEPTH = 5;

/** Finds the first member, the outermost first, for which a condition holds. Lists are not searched. */
export function findMember(value: unknown, isMeant: (member: Member) => boolean): Member | null {
  return membersOf(value).find(isMeant) ?? null;
}

/** Finds the outermost list of records. Its path is empty if the answer itself is the list. */
export function findRecords(
  value: unknown,
): { readonly path: string; readonly items: readonly Readonly<Record<string, unknown>>[] } | null {
  const lists = [{ path: '', value }, ...membersOf(value)].filter(({ value: list }) => Array.isArray(list));
  const found = lists.find(({ value: list }) => (list as readonly unknown[]).some(isObject)) ?? lists[0];
  return found === undefined
    ? null
    : { path: found.path, items: (found.value as readonly unknown[]).filter(isObject) };
}

/** All members, those of the outer objects first. */
function membersOf(value: unknown): readonly Member[] {
  const found: Member[] = [];
  let level: readonly Member[] = [{ path: '', value }];
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    level = level.flatMap(({ path, value: outer }) =>
      isObject(outer)
        ? Object.entries(outer).map(([name, inner]) => ({
            path: path === '' ? name : `${path}.${name}`,
            value: inner,
          }))
        : [],
    );
    found.push(...level);
  }
  return found;
}
