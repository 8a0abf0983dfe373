import { isObject } from '../../core/json/exact-json.ts';

type Members = Readonly<Record<string, unknown>>;

/** Moves a member: its path before and after. `to` is null if the member is removed. */
export type Move = { readonly from: string; readonly to: string | null };

/** Returns the value at a path of member names with dots between them; undefined if there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return memberAt(value, path.split('.'));
}

/** Returns the value at a path that was split already; undefined if there is none. */
export function memberAt(value: unknown, names: readonly string[]): unknown {
  let found = value;
  for (const name of names) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/**
 * Returns the object with members moved to other paths. All values are taken out before any is put in, so that two
 * members can swap their names. A member that is missing is not moved.
 */
export function moveMembers(value: unknown, moves: readonly Move[]): unknown {
  if (!isObject(value) || moves.length === 0) return value;
  const taken = moves.map(({ from, to }) => ({ to, from, found: valueAt(value, from) }));
  let moved: unknown = value;
  for (const { from, found } of taken) if (found !== undefined) moved = without(moved, from.split('.'));
  // The shorter path first: `deal` must not replace what was put at `deal.id`.
  const shortFirst = taken.toSorted((one, other) => (one.to ?? '').length - (other.to ?? '').length);
  for (const { to, found } of shortFirst)
    if (to !== null && found !== undefined) moved = withValue(moved, to.split('.'), found);
  return moved;
}

/** Returns the object with a value at a path; objects on the way are made as needed. */
export function putAt(value: unknown, path: string, put: unknown): unknown {
  return withValue(value, path.split('.'), put);
}

function withValue(value: unknown, names: readonly string[], put: unknown): unknown {
  const [name, ...rest] = names;
  if (name === undefined) return put;
  const members: Members = isObject(value) ? value : {};
  const inner = Object.hasOwn(members, name) ? members[name] : undefined;
  // Defined, not assigned, because a name such as __proto__ would otherwise change the object's type.
  return Object.fromEntries([
    ...Object.entries(members).filter(([other]) => other !== name),
    [name, withValue(inner, rest, put)],
  ]);
}

function without(value: unknown, names: readonly string[]): unknown {
  const [name, ...rest] = names;
  if (name === undefined || !isObject(value) || !Object.hasOwn(value, name)) return value;
  const others = Object.entries(value).filter(([other]) => other !== name);
  if (rest.length === 0) return Object.fromEntries(others);
  const inner = without(value[name], rest);
  // An object of which everything was moved elsewhere is gone, too.
  const isEmpty = isObject(inner) && Object.keys(inner).length === 0;
  return Object.fromEntries(isEmpty ? others : [...others, [name, inner]]);
}
