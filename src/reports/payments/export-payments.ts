import type { StatementSettings } from '../../config/schema.ts';
import type { FileKind } from '../../core/money/payments.ts';
import { dayIn } from '../../core/time/day.ts';
import type { PaymentOrder } from '../../money/payments/keep-payments.ts';
import { isSepa, renderPain001 } from './pain-001.ts';
import { renderPaymentsCsv } from './payments.ts';

/**
 * Renders payments for the bank. In the same transaction as `take`, so that payments that cannot be rendered are not
 * exported.
 *
 * @param options.on day on which the bank is asked to pay. Null: today, in the zone of the statements.
 * @param take records the payments as exported, of those that the kind of file can pay.
 * @throws KnownError `payments_not_exported` (exit 2).
 */
export async function exportForBank(
  {
    as,
    statements: { payments, timeZone },
    on,
    now,
  }: {
    as: FileKind;
    statements: Pick<StatementSettings, 'payments' | 'timeZone'>;
    on: string | null;
    now: Date;
  },
  take: (canPay: (order: PaymentOrder) => boolean) => Promise<readonly PaymentOrder[]>,
): Promise<{ readonly orders: readonly PaymentOrder[]; readonly file: string }> {
  const orders = await take(as === 'csv' ? () => true : isSepa);
  const file =
    as === 'csv'
      ? renderPaymentsCsv(orders)
      : renderPain001(orders, { debtor: payments, on: on ?? dayIn(now, timeZone) });
  return { orders, file };
}
