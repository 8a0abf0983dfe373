import type { SeedRow } from '../../../core/backfill.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { foldPlatform, orderKey } from '../../../core/text/order-key.ts';
import { type ReadSheet, readSheet } from '../../../core/text/read-sheet.ts';
import type { MoneyFormat } from '../../layout/to-layout.ts';
import { currencyParser } from '../../values/parse-currency.ts';
import { type IdParser, parseId } from '../../values/parse-id.ts';
import { parseMoneyIn } from '../../values/parse-money.ts';

const COLUMNS = [
  'order_platform',
  'order_id',
  'amount',
  'currency',
  'deal_id',
  'collab_id',
  'reason',
] as const;
type SeedColumn = (typeof COLUMNS)[number];

/** Seed files are written by a person or a query, with a plain decimal point. */
const MONEY: MoneyFormat = { decimal: '.', thousands: null, symbols: false };
const MAX_REASON_CHARS = 500;

/** The platform of a source, and how its layout finds the order id in a cell. */
export type SeededPlatform = { readonly orderPlatform: string; readonly orderIdOf: IdParser };

/**
 * Parses a seed file of orders that were credited elsewhere: order_platform, order_id, and optionally amount,
 * currency, deal_id, collab_id, reason.
 *
 * @param platforms the platforms of the sources. A row with another platform would protect no order, so it is
 * a problem. An id is written as an export of its platform writes it, or as it is stored.
 */
export function parseSeeds(text: string, platforms: readonly SeededPlatform[]): ReadSheet<SeedRow> {
  const names = [...new Set(platforms.map(({ orderPlatform }) => orderPlatform))];
  const readCurrency = currencyParser(null);
  return readSheet<SeedColumn, SeedRow>(text, {
    columns: COLUMNS,
    required: [['order_platform'], ['order_id']],
    mayHaveOthers: false,
    mayBePadded: false,
    insteadOfAddress: null,
    readRow({ line, cell, refuse, isRepeated }) {
      const platform = foldPlatform(cell('order_platform'));
      const known = platforms.filter((one) => foldPlatform(one.orderPlatform) === platform);
      const orderPlatform = known[0]?.orderPlatform;
      if (orderPlatform === undefined)
        return refuse(
          'order_platform',
          'No source has this order_platform, so the row would protect no order.',
          `Write one of: ${names.join(', ')}.`,
        );
      const written = parseId(cell('order_id'));
      const parts = known.map(({ orderIdOf }) => orderIdOf(cell('order_id')));
      const orderId = parts.find((part) => typeof part === 'string' && part !== written) ?? written;
      if (typeof orderId !== 'string') return refuse('order_id', orderId.reason, orderId.help);
      const sum = cell('amount');
      const currency = cell('currency') === '' && sum === '' ? null : readCurrency(cell('currency'));
      if (currency !== null && typeof currency !== 'string')
        return refuse('currency', currency.reason, currency.help);
      const amount = currency === null || sum === '' ? null : parseMoneyIn(currency, sum, MONEY);
      if (amount !== null && typeof amount !== 'string') return refuse('amount', amount.reason, amount.help);
      if (isRepeated('order_id', orderKey(orderPlatform, orderId), 'this order')) return null;
      return {
        line,
        orderPlatform,
        orderId,
        amount,
        currency,
        dealId: cell('deal_id') || null,
        collabId: cell('collab_id') || null,
        reason: maskAddresses(cell('reason').slice(0, MAX_REASON_CHARS)) || null,
      };
    },
  });
}
