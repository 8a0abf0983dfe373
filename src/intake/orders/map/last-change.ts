import { type InstantText, type OrderDoubt, type StagedOrder, UNKNOWN_AGE } from '../../../core/order.ts';
import { cleanText, isBlank } from '../../values/clean-text.ts';
import type { DateWatch } from '../../values/date-order.ts';
import type { TimeParser } from '../../values/parse-time.ts';
import { arePlacedApart, type Built, NUMBER_USED_AGAIN } from './built-order.ts';
import type { OpenOrder } from './open-order.ts';
import type { ColumnPlan } from './plan-columns.ts';

/*
 * A column may say when the order of a row last changed (`changed_at` of a layout, `age: column` of a source). Rows of
 * one order that say different times are different states of it, and the newest one counts, wherever it stands.
 */

/** A window keeps no more states of one order. */
const MAX_STATES = 100;
const TOO_MANY_STATES = {
  fault: {
    code: 'conflicting_rows',
    reason: `The file states this order in more than ${MAX_STATES} versions.`,
    help: 'Export each order once, as it is now.',
  },
  column: 'changed_at',
  value: '',
} as const;

/**
 * Finds the state of an order to which a row belongs, by the time of its last change, as written.
 *
 * @returns null if it is the first row of another state. A row that says no time belongs to the state before it.
 */
export function stateOf(order: OpenOrder, { slot, cell }: { slot: number; cell: string }): OpenOrder | null {
  const told = cleanText(cell);
  const toldBy = ({ values }: OpenOrder): string => cleanText(values[slot] ?? '');
  if (told === '' || toldBy(order) === '' || told === toldBy(order)) return order;
  const { states } = order;
  const same = states?.find((one) => toldBy(one) === told);
  if (same !== undefined || states?.length !== MAX_STATES) return same ?? null;
  order.fault ??= TOO_MANY_STATES;
  return order;
}

/** Adds another state to an order. */
export function joinState(order: OpenOrder, state: OpenOrder): OpenOrder {
  order.states ??= [order];
  order.states.push(state);
  state.states = order.states;
  return state;
}

/**
 * Reads when the order last changed: the latest time that its rows say.
 *
 * @returns `UNKNOWN_AGE` if no row says it, or the text of one is no time, or a time after the export.
 */
export function readChange(
  open: OpenOrder,
  { fields }: Pick<ColumnPlan, 'fields'>,
  { timeOf, dates, latestMs }: { timeOf: TimeParser; dates: DateWatch | null; latestMs: number },
): Exclude<StagedOrder['changedAt'], null> {
  const slot = fields.changed_at.find((one) => !isBlank(open.values[one] ?? ''));
  if (slot === undefined) return UNKNOWN_AGE;
  const more = (open.more ?? []).filter((one) => one.slot === slot).map(({ value }) => value);
  let latest: InstantText = '';
  for (const text of [open.values[slot] ?? '', ...more]) {
    dates?.see(text, open.line);
    const time = timeOf(text);
    // A wrong month or year would make later states of the order older ones.
    if (typeof time !== 'string' || Date.parse(time) > latestMs) return UNKNOWN_AGE;
    if (time > latest) latest = time;
  }
  return latest;
}

/**
 * Chooses the newest of the states in which a file states an order. The rows of the others count as rows of the order.
 * A row of any of them that cannot be used makes the order one that cannot be used, because its newest state is unknown.
 */
export function newestOf(states: readonly Built[]): Built {
  let rowCount = 0;
  let doubt: OrderDoubt | null = null;
  const orders: StagedOrder[] = [];
  for (const built of states) {
    if (built.kind === 'fault') return { ...built, changedAt: latestOf(states) };
    const one = built.kind === 'order' ? built.order : built.continuation;
    rowCount += one.rowCount;
    if (built.kind !== 'order') continue;
    orders.push(built.order);
    doubt ??= built.order.doubt;
  }
  const [first] = states;
  if (arePlacedApart(orders.map(({ placedAt }) => placedAt)))
    return { kind: 'fault', fault: NUMBER_USED_AGAIN, column: null, value: null };
  const byAge = orders.toSorted((one, other) => (ageOf(one) < ageOf(other) ? 1 : -1));
  const [newest] = byAge;
  if (newest === undefined)
    return first?.kind === 'continuation'
      ? { ...first, continuation: { ...first.continuation, rowCount } }
      : contradictionOf(states);
  const isUnclear = orders.some(
    (one) =>
      one.contentHash !== newest.contentHash &&
      (ageOf(one) === ageOf(newest) || newest.changedAt === UNKNOWN_AGE),
  );
  if (isUnclear) return contradictionOf(states);
  // The end of the last row may be missing: then its time may be cut too.
  const contentHash =
    doubt === null || newest.doubt !== null ? newest.contentHash : `${newest.contentHash}:${doubt}`;
  // An order is placed once, so a state that does not say when does not take back what another one says.
  const placedAt = byAge.find((one) => one.placedAt !== null)?.placedAt ?? null;
  return {
    kind: 'order',
    order: { ...newest, placedAt, rowCount, doubt: newest.doubt ?? doubt, contentHash },
  };
}

/** Returns when the newest of the states last changed, if that is known of all. */
function latestOf(states: readonly Built[]): string {
  if (states.length === MAX_STATES) return UNKNOWN_AGE;
  const ages = states.map((built) =>
    built.kind === 'continuation' ? UNKNOWN_AGE : ageOf(built.kind === 'order' ? built.order : built),
  );
  return ages.toSorted().at(-1) ?? UNKNOWN_AGE;
}

/** Instants sort as text, and `UNKNOWN_AGE` sorts after all of them. */
function ageOf({ changedAt }: Partial<Pick<StagedOrder, 'changedAt'>>): string {
  return changedAt ?? UNKNOWN_AGE;
}

/** Rejects an order of which it is not known which state is the newest. */
function contradictionOf(states: readonly Built[]): Built {
  return {
    kind: 'fault',
    fault: {
      code: 'conflicting_rows',
      reason:
        'Rows of this order state it differently, and the times of their last changes do not show which is newer.',
      help: 'Keep the right row and remove the others, or export the file again. The tool does not guess.',
    },
    column: null,
    value: null,
    changedAt: latestOf(states),
  };
}
