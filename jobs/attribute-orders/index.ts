import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import { checksOf, OF_STORED_FILES } from '../../src/config/source-fields.ts';
import { BELOW_ZERO } from '../../src/core/held/held-order.ts';
import { clause } from '../../src/render/text.ts';
import type { JobKind } from '../job-kind.ts';
import { checkFiles, crossCheck } from './cross-check.ts';
import { renderOrders } from './render.ts';
import type { OrderCounts, OrdersReport } from './report.ts';
import { type AttributeOrdersSettings, attributeOrdersFields, STARTER_REVENUE } from './settings.ts';

/**
 * Credits orders to influencers: reads exports of orders, attributes them by code, and posts each order once.
 */
export const attributeOrders: JobKind<AttributeOrdersSettings, OrdersReport> = {
  kind: 'attribute-orders',
  nouns: { items: 'orders', done: 'posted' },
  fields: attributeOrdersFields,
  readsOfSource: [
    ...OF_STORED_FILES,
    ...(['order_platform', 'currency', 'decimal_mark', 'missing_columns', 'date_order'] as const),
    ...(['customer_key', 'own_orders', 'order_lines', 'age: column'] as const),
    ...(['limits.max_cancelled_share', 'limits.max_zero_revenue_share'] as const),
    'limits.max_unlisted_share',
    ...checksOf('orders'),
  ],
  oneReaderHelp: 'Let one job read each source; codes.csv can name a brand for each code.',
  crossCheck,
  checkFiles,
  purpose: ({ revenue, include }) => ({ readFor: 'orders', job: { revenue, include } }),
  requireSettings(config, { sources }) {
    if (sources.some((name) => config.sources[name]?.customerKey === true)) requireCustomerKeys(config);
  },
  leases: ({ sources }) => sources.map((source) => `source:${source}`),
  plansInOverlay: true,
  heeds: 'orders',
  flow: async (run) => (await import('./flow.ts')).attributeOrders(run),
  openIntake: async (run) => (await import('./take-orders.ts')).createOrderIntake(run),
  checkFile: async (file) =>
    (await import('../../src/monitoring/doctor/diagnostics/sources.ts')).checkHeader(file),
  diagnostics: async () => (await import('./doctor.ts')).diagnostics,
  fills: [
    'intake.orders',
    'intake.attributions',
    'ledger.entries',
    'bi.orders',
    'bi.orders_attributed',
    'bi.attribution_funnel_daily',
    'bi.brand_performance_daily',
    'bi.deal_performance_daily',
    'bi.unattributed_revenue',
    'bi.code_use_daily',
    'bi.returns_monthly',
    'bi.customer_cohorts',
    'bi.conflicts',
    'bi.self_purchases',
    'bi.adjustments',
    'bi.doubts',
  ],
  backfill: 'by_days',
  starter: {
    reads: 'orders',
    settings: [
      'codes: ./codes.csv # who owns which discount code',
      `revenue: ${STARTER_REVENUE} # or total, or subtotal`,
      '# schedule: "5 * * * *" # when `serve` runs it: five past every hour',
      '# start_date: 2026-06-01 # leaves earlier orders to `backfill`',
    ],
  },
  demo: 'Orders: each order with an influencer’s code is posted once',
  watched: {
    leftForPerson: (counts) =>
      clause(
        (counts as Partial<OrderCounts>).excluded?.[BELOW_ZERO] ?? 0,
        'row below zero lowers no order, so what it refunds may count in full',
        'rows below zero lower no order, so what they refund may count in full',
      ),
  },
  render: renderOrders,
};
