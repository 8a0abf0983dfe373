import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CODES, LATER_CODE, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { MONEY_LAYOUT } from './money-layout.ts';

const YEAR = 2025;
const WINDOW_DAYS = 14;
const DAY_MS = 86_400_000;
const DIGITS = { EUR: 2, USD: 2, JPY: 0 } as const;
type Currency = keyof typeof DIGITS;
const REVENUES = ['total', 'subtotal', 'total_less_refunds'] as const;
type Revenue = (typeof REVENUES)[number];

/** What an export states about an order, in minor units. */
type State = {
  readonly currency: Currency;
  readonly total: number;
  readonly subtotal: number;
  readonly refunded: number;
  readonly status: 'paid' | 'cancelled';
};
type Order = {
  readonly id: string;
  readonly dayMs: number;
  readonly code: 'MIA10' | 'BEN15';
  /** All states so far, in the order of the exports. */
  readonly states: State[];
};
type Fee = { readonly amount: number; readonly currency: Currency } | null;
/** The terms in a month: rates in hundredths of a percent. */
type TermsOfMonth = { readonly deal: number; readonly code: number; readonly fee: Fee };

const lastDayMs = (month: number): number => Date.UTC(YEAR, month, 1) - DAY_MS;
const decimal = (units: number, currency: Currency): string =>
  (units / 10 ** DIGITS[currency]).toFixed(DIGITS[currency]);

/** Creates a random number generator (mulberry32): integers from 0 up to, but not including, `below`. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The net revenue as docs/statements.md says, in minor units. Null: unknown. */
function netOf({ states }: Order, revenue: Revenue): number | null {
  const sent = states[0]?.currency;
  const newest = states.at(-1);
  if (newest === undefined || newest.status === 'cancelled') return 0;
  // A state in another currency has no difference to what was sent.
  const known = states.findLast(({ currency }) => currency === sent);
  if (known === undefined) return null;
  if (known.refunded < 0 || known.refunded > known.total) return null;
  return Math.max(0, (revenue === 'subtotal' ? known.subtotal : known.total) - known.refunded);
}

/** Rounds half up. MIA10 has terms of its own from May, and BEN15 has those of its deal. */
function earnedOf(
  order: Order,
  { revenue, terms }: { revenue: Revenue; terms: TermsOfMonth },
): bigint | null {
  const net = netOf(order, revenue);
  if (net === null) return null;
  const rate = order.code === 'MIA10' && order.dayMs >= Date.UTC(YEAR, 4, 1) ? terms.code : terms.deal;
  return (BigInt(net) * BigInt(rate) * 2n + 10_000n) / 20_000n;
}

function termsCsv({ deal, code, fee }: TermsOfMonth): string {
  return [
    'deal_id,code,rate,fixed_fee,currency,valid_from',
    `DEALMIA,,${deal / 100},,,`,
    `DEALBEN,,${deal / 100},,,`,
    `,MIA10,${code / 100},,,${YEAR}-05-01`,
    ...(fee === null ? [] : [`DEALZOE,,,${decimal(fee.amount, fee.currency)},${fee.currency},${YEAR}-02-10`]),
    '',
  ].join('\n');
}

function toCsv(orders: readonly Order[]): string {
  const rows = orders.map(({ id, dayMs, code, states }) => {
    const state = states.at(-1);
    if (state === undefined) throw new Error('an order without a state');
    const { currency, status } = state;
    const amounts = [state.total, state.subtotal, state.refunded].map((units) => decimal(units, currency));
    return [id, ...amounts, currency, code, new Date(dayMs + DAY_MS / 2).toISOString(), status].join(',');
  });
  return ['order_id,total,subtotal,refunded,currency,codes,placed_at,status', ...rows, ''].join('\n');
}

/** Adds a random change to an order, as shops make them. */
function restate(
  { states }: Order,
  { random, revenue }: { random: (below: number) => number; revenue: Revenue },
): void {
  const first = states[0];
  const known = states.findLast(({ currency }) => currency === first?.currency);
  if (first === undefined || known === undefined) return;
  const fate = random(revenue === 'total_less_refunds' ? 7 : 8);
  const refund = (units: number): State => ({ ...known, refunded: units });
  if (fate < 3) states.push(refund(random(known.total + 1)));
  else if (fate === 3) states.push({ ...known, total: known.total + 500, subtotal: known.subtotal + 500 });
  else if (fate === 4) states.push({ ...known, status: 'cancelled' });
  else if (fate === 5 && known.refunded <= known.total)
    states.push({ ...known, currency: first.currency === 'JPY' ? 'EUR' : 'JPY', total: 99_000, refunded: 0 });
  else if (fate === 7) states.push(refund(known.total + 1));
  else states.push({ ...known, status: 'paid' });
}

async function statementOf(shop: Workshop, month: number): Promise<readonly string[]> {
  const { stdout } = await shop.cli('statement', '--month', nameOf(month), '--json');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | null>)
    .filter(({ event }) => event === 'statement_line')
    .map((line) => {
      const amounts = [line.net_amount, line.earned_amount, line.closed_before, line.amount].map(Number);
      return [line.kind, line.order_id ?? 'fee', line.currency, ...amounts].join(' ');
    })
    .toSorted();
}
const nameOf = (month: number): string => `${YEAR}-${String(month).padStart(2, '0')}`;

const years = Array.from({ length: propertyRuns(1) }, (_, index) => ({
  seed: 23 + index,
  revenue: REVENUES[index % REVENUES.length] ?? 'total',
}));

it.each(years)(
  'the statements of a year of refunds, edits, other currencies and changed terms are those of a naive computation ($seed, $revenue)',
  async ({ seed, revenue }) => {
    const random = randomOf(seed);
    const shop = await openWorkshop({
      flow: `
sources:
  shop: {uri: ./exports/, layout: money, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: ${revenue}}
statements: {terms: ./terms.csv, return_window_days: ${WINDOW_DAYS}, time_zone: UTC}
`,
    });
    mkdirSync(join(shop.folder, 'layouts'));
    shop.write('layouts/money.yaml', MONEY_LAYOUT);
    shop.write('codes.csv', `${CODES}${LATER_CODE}`);
    const orders: Order[] = [];
    /** What closed statements come to, by order or fee and its currency. */
    const closed = new Map<string, bigint>();
    let terms: TermsOfMonth = { deal: 1_000, code: 1_500, fee: { amount: 10_000, currency: 'EUR' } };
    for (let month = 1; month <= 12; month += 1) {
      const restated = orders.filter(() => random(3) === 0);
      for (const order of restated) restate(order, { random, revenue });
      const added = Array.from({ length: 8 }, (_, index): Order => {
        const currency = (['EUR', 'EUR', 'USD', 'JPY'] as const)[random(4)] ?? 'EUR';
        const total = 1_000 + random(20_000);
        const refunded = random(4) === 0 ? random(total) : 0;
        return {
          id: `${month}-${index}`,
          dayMs: Date.UTC(YEAR, month - 1, 1 + random(28)),
          code: random(2) === 0 ? 'MIA10' : 'BEN15',
          states: [{ currency, total, subtotal: total - random(900), refunded, status: 'paid' }],
        };
      });
      orders.push(...added);
      if (month === 4) terms = { ...terms, deal: 1_250 };
      if (month === 6) terms = { ...terms, fee: { amount: 12_000, currency: 'USD' } };
      if (month === 9) terms = { ...terms, fee: null };
      shop.write('terms.csv', termsCsv(terms));
      shop.drop(`${nameOf(month)}.csv`, toCsv([...restated, ...added]));
      await shop.run();

      const lines: string[] = [];
      const add = (
        name: string,
        line: { isDue: boolean; currency: Currency; net: number | null; earned: bigint; first: string },
      ) => {
        const key = `${name} ${line.currency}`;
        const before = closed.get(key);
        if (before === undefined && !line.isDue) return;
        if (line.earned === (before ?? 0n)) return;
        const amounts = [line.earned, before ?? 0n, line.earned - (before ?? 0n)].map((units) =>
          Number(decimal(Number(units), line.currency)),
        );
        const net = line.net === null ? 0 : Number(decimal(line.net, line.currency));
        lines.push(
          [before === undefined ? line.first : 'correction', name, line.currency, net, ...amounts].join(' '),
        );
        closed.set(key, line.earned);
      };
      for (const order of orders) {
        const earned = earnedOf(order, { revenue, terms });
        const currency = order.states[0]?.currency ?? 'EUR';
        const isDue = order.dayMs + WINDOW_DAYS * DAY_MS <= lastDayMs(month);
        if (earned !== null)
          add(order.id, { isDue, currency, net: netOf(order, revenue), earned, first: 'order' });
      }
      for (const currency of ['EUR', 'USD'] as const)
        add('fee', {
          isDue: month >= 2,
          currency,
          net: null,
          earned: terms.fee?.currency === currency ? BigInt(terms.fee.amount) : 0n,
          first: 'fixed_fee',
        });
      const wanted = lines.toSorted();
      expect(await statementOf(shop, month), nameOf(month)).toEqual(wanted);
      const { exitCode } = await shop.cli(
        'statement',
        'close',
        '--month',
        nameOf(month),
        '--reason',
        'paid out',
      );
      expect(exitCode).toBe(0);
      expect(await statementOf(shop, month), `${nameOf(month)}, closed`).toEqual(wanted);
    }
    expect((await shop.cli('statement', 'verify')).exitCode).toBe(0);
  },
);
