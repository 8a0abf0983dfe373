import {
  type InstantText,
  type OrderContinuation,
  SAME_ORDER_HOURS,
  type StagedOrder,
  SUMMER_TIME_SECONDS,
  ZONE_HOURS,
  ZONE_MINUTES,
} from '../../../core/order.ts';
import type { Fault } from '../../map/fault.ts';
import type { DateWatch } from '../../values/date-order.ts';
import type { MarkWatch } from '../../values/decimal-mark.ts';
import type { CustomerKeyOf } from './customer-key.ts';

/** The result of building an order from its rows. */
export type Built =
  | { readonly kind: 'order'; readonly order: StagedOrder }
  | { readonly kind: 'continuation'; readonly continuation: OrderContinuation }
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly column: string | null;
      readonly value: string | null;
      /** When its rows last changed, if they only contradict each other. */
      readonly changedAt?: StagedOrder['changedAt'];
    };

/** Values that the source provides if its format lacks them, and what its settings add to an order. */
export type Given = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly dates: DateWatch | null;
  readonly marks: MarkWatch | null;
  /** The latest time that the export may state, in milliseconds since 1970. */
  readonly latestMs: number;
  readonly customerKeyOf: CustomerKeyOf | null;
};

/** Thrown while an order is built, and caught by `OrderBuilder`: the first faulty value ends it. */
export class ValueFault {
  readonly built: Built;

  constructor(fault: Fault, column: string | null, value: string | null) {
    this.built = { kind: 'fault', fault, column, value };
  }
}

export const CONFLICTING_COLUMNS: Fault = {
  code: 'conflicting_columns',
  reason: 'Two columns of the file state this about the order, and differ.',
  help: 'Find out which one is right, and export the file without the other.',
};

/** Two orders with one id, for example of a till that counts from 1 each year. */
export const NUMBER_USED_AGAIN: Fault = {
  code: 'conflicting_rows',
  reason: `Rows with this order id were placed more than ${SAME_ORDER_HOURS} hours apart, so a number was used again.`,
  help: 'Make the ids unique: joined_columns of the layout with the date or year, or export each period in a file of its own.',
};

/** True if one order cannot have been placed at all of these times. One that is not known proves nothing. */
export function arePlacedApart(times: readonly (InstantText | null)[]): boolean {
  const known = times.flatMap((time) => (time === null ? [] : Date.parse(time)));
  return Math.max(...known) - Math.min(...known) > SAME_ORDER_HOURS * 3_600_000;
}

/** Returns the minutes by which an order was placed later by one statement than by another; null if one does not say when. */
export function minutesBetween(one: InstantText | null, other: InstantText | null): number | null {
  return one === null || other === null ? null : (Date.parse(one) - Date.parse(other)) / 60_000;
}

/** Returns a difference in minutes as steps of time zones; null if no zone explains it (`zoneStepsOf` of sealing). */
export function zoneStepsOf(minutes: number): number | null {
  const rest = Math.abs(minutes) % ZONE_MINUTES;
  const isZone = (rest < 1 || rest > ZONE_MINUTES - 1) && Math.abs(minutes) < ZONE_HOURS * 60 + 1;
  return isZone ? Math.round(minutes / ZONE_MINUTES) : null;
}

/**
 * True if orders of a file were placed at times of day, and false if on days (`statesTimes` of sealing). Null if either may
 * be: the file has one time, which may begin a day, or none.
 */
export function areTimed(times: readonly (InstantText | null)[]): boolean | null {
  const known = times.filter((time) => time !== null).map((time) => Date.parse(time) / 1000);
  if (known.some((second) => second % (ZONE_MINUTES * 60) !== 0)) return true;
  if (known.length < 2) return null;
  const ofDay = new Set(known.map((second) => second % 86_400));
  return ofDay.size > 2 || !SUMMER_TIME_SECONDS.includes(Math.max(...ofDay) - Math.min(...ofDay));
}
