import type { SummedField } from '../../model/layout.ts';
import { hasFittingDecimals } from '../../model/money.ts';
import type { DecimalText } from '../../model/order.ts';
import { OTHER_CURRENCY } from '../fault.ts';
import { fromUnits } from '../values/add-money.ts';
import { NO_CURRENCY } from '../values/parse-currency.ts';
import { tooManyDecimals } from '../values/parse-money.ts';
import { ValueFault } from './built-order.ts';
import type { OpenOrder } from './open-order.ts';
import type { ColumnPlan } from './plan-columns.ts';

/**
 * Checks an amount that was added up over the rows of an order, now that its currency is known. The amounts of items may
 * have more decimals than their sum.
 *
 * @throws ValueFault if an amount names another currency, or the sum has more decimals than the currency.
 */
export function checkSum(
  { stated }: Pick<OpenOrder, 'stated'>,
  {
    field,
    sum,
    currency,
    plan,
  }: {
    readonly field: SummedField;
    readonly sum: bigint;
    readonly currency: string;
    readonly plan: Pick<ColumnPlan, 'sums'>;
  },
): DecimalText {
  if (stated !== null && currency !== NO_CURRENCY && !stated.currencies.includes(currency))
    throw new ValueFault(OTHER_CURRENCY, stated.column, stated.value);
  const amount = fromUnits(sum);
  if (hasFittingDecimals(amount, currency)) return amount;
  const column = plan.sums.find((one) => one.field === field)?.name ?? null;
  throw new ValueFault(tooManyDecimals(currency), column, amount);
}
