import type { OrderContinuation, StagedOrder } from '../../model/order.ts';
import type { Fault } from '../fault.ts';

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

/** Thrown while an order is built, and caught by `OrderBuilder`: the first faulty value ends it. */
export class ValueFault {
  readonly built: Built;

  constructor(fault: Fault, column: string | null, value: string | null) {
    this.built = { kind: 'fault', fault, column, value };
  }
}
