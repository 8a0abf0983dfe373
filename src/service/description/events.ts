import { isObject } from '../../core/json/exact-json.ts';
import { moveMembers, putAt, valueAt } from './member-paths.ts';
import type { EventDescription } from './schema.ts';

/** Reads the payload of an event in our words: without its envelope, members and kind under our names. */
export function fromServiceEvent(events: EventDescription, payload: unknown): unknown {
  const inner = events.envelope === null ? undefined : valueAt(payload, events.envelope);
  const opened =
    events.envelope !== null && isObject(inner)
      ? { ...(moveMembers(payload, [{ from: events.envelope, to: null }]) as object), ...inner }
      : payload;
  const moves = Object.entries(events.members).map(([ours, theirs]) => ({ from: theirs, to: ours }));
  const said = valueAt(payload, events.kind) ?? valueAt(opened, events.kind);
  const kind = Object.entries(events.kinds).find(([, theirs]) => theirs === said)?.[0] ?? said;
  const moved = moveMembers(opened, moves);
  const isSame = kind === undefined || (events.kind === 'webhook_type' && kind === said);
  return isSame || !isObject(moved) ? moved : putAt(moved, 'webhook_type', kind);
}

/** Writes the payload of an event in the words of the service. @param kind null if events do not name their kind. */
export function toServiceEvent(events: EventDescription, payload: unknown, kind: string | null): unknown {
  const moves = Object.entries(events.members).map(([ours, theirs]) => ({ from: ours, to: theirs }));
  const moved = moveMembers(payload, moves);
  const inner = events.envelope === null ? moved : putAt({}, events.envelope, moved);
  const names: Readonly<Record<string, string>> = events.kinds;
  return kind === null ? inner : putAt(inner, events.kind, names[kind] ?? kind);
}

/** True if payloads are read as they are, so that nothing needs to be translated. */
export function hasOwnPayloads({ members, kinds, envelope, kind }: EventDescription): boolean {
  return (
    envelope === null &&
    kind === 'webhook_type' &&
    Object.keys(members).length === 0 &&
    Object.keys(kinds).length === 0
  );
}
