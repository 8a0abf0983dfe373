import type { Check } from '../check.ts';
import { newOrders, orders, rows } from './counts.ts';
import { header } from './header.ts';
import { medianValue } from './median-value.ts';
import { newestOrder, overlap } from './overlap.ts';
import { blankCodes, currencies, refusedConsent, rejected, statuses, unattributed } from './shares.ts';

/** Every check of a file, in the order in which they are listed. To add one: its name in `FILE_CHECKS`, its file or its part of one, a line here. */
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
