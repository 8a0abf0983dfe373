/** A layout with every column that net revenue depends on. */
export const MONEY_LAYOUT = `
title: Orders with refunds
columns:
  order_id: [order_id]
  total: [total]
  subtotal: [subtotal]
  refunded: [refunded]
  currency: [currency]
  codes: [codes]
  placed_at: [placed_at]
  status: [status]
required: [order_id, total]
money: { decimal: ".", thousands: null, symbols: false }
times: [iso]
codes: { split: "," }
status: { credited: [paid, partially_refunded, refunded] }
exclusions:
  - { reason: cancelled, columns: [status], equals: [cancelled] }
`;
