import type { OrderContinuation, StagedOrder } from '../../../core/order.ts';
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
    };

/** Values that the source provides if its format lacks them, and what its settings add to an order. */
export type Given = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly dates: DateWatch | null;
  readonly marks: MarkWatch | null;
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
