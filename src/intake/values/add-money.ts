import type { DecimalText } from '../../core/order.ts';

const SCALE = 4;

/** Converts an amount to ten-thousandths, exactly. */
export function toUnits(amount: DecimalText): bigint {
  const [whole = '0', decimals = ''] = amount.split('.');
  return BigInt(`${whole}${decimals.padEnd(SCALE, '0')}`);
}

/** Converts ten-thousandths to an amount with at least two decimals. */
export function fromUnits(units: bigint): DecimalText {
  const digits = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0');
  const decimals = digits.slice(-SCALE).replace(/0{1,2}$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -SCALE)}.${decimals}`;
}
