import type { Check } from '../check.ts';
import { newOrders, orders, rows } from './counts.ts';
import { header } from './header.ts';
import { medianValue } from './median-value.ts';
import { newestOrder, overlap } from './overlap.ts';
import { blankCodes, currencies, refusedConsent, rejected, statuses, unattributed } from './shares.ts';

/**
 * All checks of a file, in the order in which they are shown. A new one needs its name in `FILE_CHECKS`, its
 * code in this folder, and a line here.
 */
export const checks: readonly Check[] = [
  rows,
  orders,
  newOrders,
  rejected,
  blankCodes,
  unattributed,
  refusedConsent,
  currencies,
  statuses,
  medianValue,
  overlap,
  newestOrder,
  header,
];
