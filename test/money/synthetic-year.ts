/**
 * Twelve months of a shop, with the expected figures. A seed determines the exports. The figures of each
 * creator are computed here independently, from the generated orders, in cents and with plain loops. This
 * uses no SQL and no code of the project, only the definitions in docs/money.md.
 */

export const YEAR = 2025;
const DAY_MS = 86_400_000;
const DEALS = { MIA10: 'DEALMIA', BEN15: 'DEALBEN', ZOE20: 'DEALZOE' } as const;
type Code = keyof typeof DEALS;

/** Days after which an order counts: the default of `statements.return_window_days`. */
const WINDOW_DAYS = 30;

/**
 * Returns the commission rates in hundredths of a percent. Null if it is unknown: that of BEN before his terms begin, that
 * of ZOE outside hers, and that of her orders in dollars, since her tier is in euros.
 *
 * @param tier net revenue of ZOE in euro cents, from which she earns more. The order that reaches it does not yet.
 */
function ratesOf(posted: readonly Order[], tier: number): ReadonlyMap<Order, number | null> {
  const rates = new Map<Order, number | null>();
  const ordersOfBen = new Map<number, number>();
  let revenueOfZoe = 0;
  for (const order of posted.toSorted((one, other) => one.at - other.at)) {
    const { code, at, currency } = order;
    const left = leftOf(order);
    if (code === 'BEN15') {
      // Of a month in which they count, his first order earns less than the others.
      const counts = new Date(at + WINDOW_DAYS * DAY_MS);
      const month = counts.getUTCFullYear() * 12 + counts.getUTCMonth();
      const before = ordersOfBen.get(month) ?? 0;
      if (left > 0) ordersOfBen.set(month, before + 1);
      rates.set(order, at < Date.UTC(YEAR, 2, 10) ? null : before > 0 ? 1_500 : 1_250);
    } else if (code === 'ZOE20') {
      const isRated = isOfZoe(at) && currency === 'EUR';
      rates.set(order, isRated ? (revenueOfZoe >= tier ? 2_500 : 2_025) : null);
      if (currency === 'EUR') revenueOfZoe += left;
    } else rates.set(order, 1_000);
  }
  return rates;
}

/** From June to September. */
function isOfZoe(at: number): boolean {
  const month = new Date(at).getUTCMonth();
  return month >= 5 && month <= 8;
}

/** What is left of an order in cents. */
function leftOf({ cancelled, finalCents }: Order): number {
  return cancelled === 'never' ? finalCents : 0;
}

/** What ZOE has in euro cents before the middle one of her orders that can reach it, so that it is reached exactly. */
function tierOf(posted: readonly Order[]): number {
  const inTurn = posted
    .filter(({ code, currency }) => code === 'ZOE20' && currency === 'EUR')
    .toSorted((one, other) => one.at - other.at);
  const able = inTurn.filter((order) => isOfZoe(order.at) && leftOf(order) > 0);
  const reached = able[Math.floor(able.length / 2)];
  const before = reached === undefined ? [] : inTurn.slice(0, inTurn.indexOf(reached));
  return before.reduce((sum, order) => sum + leftOf(order), 0);
}

/** MIA earns nothing for gift cards. From July on, no creator earns anything for parcel insurance. */
function termsCsv(tier: number): string {
  return `deal_id,code,rate,fixed_fee,currency,valid_from,valid_to,excluded_skus,from_orders,from_revenue,tier
DEALMIA,,10,,,,,GIFT-*,,,
DEALBEN,,12.5,200,EUR,${YEAR}-03-10,,,,,
DEALBEN,,15,,,${YEAR}-03-10,,,2,,month
,ZOE20,20.25,,,${YEAR}-06-01,${YEAR}-09-30,,,,
,ZOE20,25,,EUR,${YEAR}-06-01,${YEAR}-09-30,,,${(tier / 100).toFixed(2)},all
,,,,,${YEAR}-07-01,,Parcel Care,,,
`;
}
function isExcluded(sku: string, { code, at }: Pick<Order, 'code' | 'at'>): boolean {
  const isGift = code === 'MIA10' && sku.startsWith('GIFT-');
  return isGift || (sku === 'PARCELCARE' && at >= Date.UTC(YEAR, 6, 1));
}
const SKUS = ['GIFT-25', 'GIFT-100', 'PARCELCARE', 'SERUM', 'SOAP', ''] as const;
/**
 * Returns the value of 1 USD in EUR on a day, in thousandths. Null in May and September, for which no rate is
 * published.
 */
function dollarOn(at: number): number | null {
  const day = Math.floor(at / DAY_MS);
  const isLost = [4, 8].includes(new Date(at).getUTCMonth());
  return isLost ? null : 850 + (day % 97);
}
export const RATES = `day,from,to,rate
${Array.from({ length: 365 }, (_, index) => Date.UTC(YEAR, 0, 1 + index))
  .flatMap((at) => {
    const rate = dollarOn(at);
    return rate === null ? [] : [`${new Date(at).toISOString().slice(0, 10)},USD,EUR,0.${rate}`];
  })
  .join('\n')}
`;
export const CODES = `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
${Object.entries(DEALS)
  .map(([code, deal]) => `${code},4819,,${deal},,,`)
  .join('\n')}
`;
/** The margin in percent. */
export const MARGIN = 42.5;

type Order = {
  readonly id: string;
  readonly at: number;
  readonly currency: 'EUR' | 'USD';
  readonly code: Code | null;
  /** Empty if the export names no customer. */
  readonly email: string;
  readonly cents: number;
  /** Amount after a partial refund; otherwise equal to `cents`. */
  readonly finalCents: number;
  /**
   * Order lines, in cents before discounts of the whole order, shipping and tax. Null if a line cannot be
   * read.
   */
  readonly lines: readonly (readonly [sku: string, cents: number])[] | null;
  /** `before`: already cancelled in the first export that contains it. `after`: cancelled in a later one. */
  readonly cancelled: 'never' | 'before' | 'after';
  /**
   * `codes`: it also carries the code of another creator, and is held. `named`: the export names MIA as its
   * owner, but the code is that of BEN.
   */
  readonly conflict: 'none' | 'codes' | 'named';
  /** True if the export of its period lacks it and a later one contains it. */
  readonly isLate: boolean;
};

/**
 * Creates a random number generator (mulberry32). The same seed always gives the same numbers.
 *
 * @returns a function that returns an integer from 0 up to, but not including, `below`.
 */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function makeOrders(seed: number, perMonth: number): readonly Order[] {
  const random = randomOf(seed);
  const orders: Order[] = [];
  const codes = [null, null, 'MIA10', 'MIA10', 'BEN15', 'ZOE20'] as const;
  const make = (at: number, given: Partial<Order> = {}): void => {
    const cents = 500 + random(20_000);
    const fate = random(20);
    const code = codes[random(codes.length)] ?? null;
    const dispute = random(12);
    const lines = Array.from(
      { length: 1 + random(3) },
      () => [SKUS[random(SKUS.length)] ?? '', random(8_000)] as const,
    );
    orders.push({
      id: `${10_000 + orders.length}`,
      // No two orders have the same instant.
      at: at - (at % 1_000_000) + orders.length * 1_000,
      currency: random(5) === 0 ? 'USD' : 'EUR',
      code,
      conflict:
        code === 'MIA10' && dispute === 0 ? 'named' : code !== null && dispute === 1 ? 'codes' : 'none',
      email: random(10) === 0 ? '' : `buyer${random(perMonth * (random(2) === 0 ? 2 : 20))}@example.com`,
      cents,
      finalCents: fate === 1 ? Math.floor(cents / 3) : cents,
      cancelled: fate === 2 ? 'after' : fate === 3 ? 'before' : 'never',
      isLate: fate === 4,
      lines: random(60) === 0 ? null : lines,
      ...given,
    });
  };
  for (let month = 0; month < 12; month += 1) {
    const begin = Date.UTC(YEAR, month, 1, 1);
    for (let index = 0; index < perMonth; index += 1) make(begin + random(27) * DAY_MS + random(80_000_000));
    // In August, the code is on a coupon site for two days, and new customers use it.
    if (month === 7)
      for (let index = 0; index < perMonth / 2; index += 1)
        make(begin + 10 * DAY_MS + random(2 * DAY_MS), {
          code: 'MIA10',
          conflict: 'none',
          email: `leak${index}@example.com`,
        });
  }
  return orders;
}

const HEADER =
  'order_id,order_revenue,currency,discount_codes,placed_at,status,email,deal_id,sku,line_amount';

function toCsv(orders: readonly Order[], as: 'first' | 'final'): string {
  const rows = orders.flatMap((order) => {
    const { id, at, currency, email, cents, finalCents, cancelled, conflict } = order;
    const amount = as === 'first' ? cents : finalCents;
    const isCancelled = cancelled === 'before' || (cancelled === 'after' && as === 'final');
    // Customers do not always write their address in the same way.
    const written = Number(id) % 3 === 0 ? email.toUpperCase() : email;
    const cells = [
      id,
      (amount / 100).toFixed(2),
      currency,
      `"${codesOf(order).join(',')}"`,
      new Date(at).toISOString(),
      isCancelled ? 'cancelled' : 'paid',
      written,
      conflict === 'named' ? DEALS.MIA10 : '',
    ].join(',');
    const lines = order.lines?.map(([sku, price]) => [sku, (price / 100).toFixed(2)]) ?? [['SOAP', 'free']];
    return lines.map(([sku, price]) => `${cells},${sku},${price}`);
  });
  return `${[HEADER, ...rows].join('\n')}\n`;
}

/**
 * Returns the earnings of an order in cents, or what is unknown. Half cents are rounded up twice: in the
 * excluded amount and in the earnings.
 */
function earnedOf(order: Order, rate: number | null): bigint | 'rate' | 'products' {
  const left = leftOf(order);
  // True if the terms exclude any product for this order, whether or not it was bought.
  const canExclude = isExcluded('GIFT-', order) || isExcluded('PARCELCARE', order);
  let excluded: number | null = 0;
  if (left > 0 && canExclude && order.lines === null) excluded = null;
  else if (left > 0 && order.lines !== null) {
    const out = order.lines.filter(([sku]) => isExcluded(sku, order));
    const sum = (lines: readonly (readonly [string, number])[]): number =>
      lines.reduce((total, [, price]) => total + price, 0);
    const all = sum(order.lines);
    if (out.length === order.lines.length) excluded = left;
    else if (all > 0) excluded = Math.min(left, Math.floor((2 * left * sum(out) + all) / (2 * all)));
  }
  if (excluded === left) return 0n;
  if (rate === null) return 'rate';
  return excluded === null ? 'products' : (BigInt(left - excluded) * BigInt(rate) + 5_000n) / 10_000n;
}

/** Returns the codes that the export contains for an order. */
function codesOf({ code, conflict }: Order): readonly Code[] {
  if (code === null) return [];
  if (conflict === 'named') return ['BEN15'];
  return conflict === 'codes' ? [code, code === 'ZOE20' ? 'MIA10' : 'ZOE20'] : [code];
}

/** A row that a view is expected to return, for example the figures of a deal in a month and a currency. */
export type Answer = Readonly<Record<string, string | null>>;

export type SyntheticYear = {
  /** Exports in the order in which they arrive. */
  readonly exports: readonly { readonly name: string; readonly content: string }[];
  /** Rows of `bi.returns_monthly`, by month, deal and currency. */
  readonly returns: readonly Answer[];
  /** Rows of `bi.customer_cohorts`, by month, deal and currency. */
  readonly cohorts: readonly Answer[];
  /** Number of orders of each deal that the service must count. */
  readonly counted: Readonly<Record<string, number>>;
  /** Rows of `bi.conflicts`, by order. */
  readonly conflicts: readonly Answer[];
  /** Number of orders whose earnings are unknown because their order lines are. */
  readonly withoutLines: number;
  /** Lines of a list of claims (creator, order id, amount, currency, day, code), each with the answer that is true. */
  readonly claims: readonly (readonly [line: string, answer: string])[];
  /** What the rules `first` and `last` decide otherwise: before, after, currency, amount, orders and whether they were sent. */
  readonly changes: Readonly<Record<'first' | 'last', readonly (readonly unknown[])[]>>;
  readonly terms: string;
  /** What notes must say: the deal, and the line of each order that changed after it was posted. */
  readonly told: readonly string[];
  /** Expected commission in all statements, by deal and currency. */
  readonly earned: Readonly<Record<string, string>>;
};

/**
 * @param options.now current time in Unix milliseconds, which determines the windows of cohorts that are
 * over.
 */
export function makeSyntheticYear({
  seed,
  perMonth,
  now,
}: {
  readonly seed: number;
  readonly perMonth: number;
  readonly now: number;
}): SyntheticYear {
  const orders = makeOrders(seed, perMonth);
  const half = Date.UTC(YEAR, 6, 1);
  const onTime = orders.filter(({ isLate }) => !isLate);
  const changed = orders.filter(
    ({ cents, finalCents, cancelled }) => cents !== finalCents || cancelled === 'after',
  );
  return {
    exports: [
      {
        name: '1-spring.csv',
        content: toCsv(
          onTime.filter(({ at }) => at < half),
          'first',
        ),
      },
      {
        name: '2-autumn.csv',
        content: toCsv(
          onTime.filter(({ at }) => at >= half),
          'first',
        ),
      },
      {
        name: '3-late.csv',
        content: toCsv(
          orders.filter(({ isLate }) => isLate),
          'first',
        ),
      },
      { name: '4-refunds.csv', content: toCsv(changed, 'final') },
    ],
    ...answer(orders, now),
  };
}

function answer(orders: readonly Order[], now: number): Omit<SyntheticYear, 'exports'> {
  const kept = orders.filter(({ cancelled }) => cancelled === 'never');
  const byCustomer = Map.groupBy(
    kept.filter(({ email }) => email !== '').toSorted((one, other) => one.at - other.at),
    ({ email }) => email,
  );
  const knownSince = Math.min(...orders.filter(({ email }) => email !== '').map(({ at }) => at));
  const posted = orders.filter(
    ({ code, cancelled, conflict }) => code !== null && cancelled !== 'before' && conflict !== 'codes',
  );
  const tier = tierOf(posted);
  const rates = ratesOf(posted, tier);
  const groups = Map.groupBy(posted, ({ at, code, currency }) =>
    [new Date(at).toISOString().slice(0, 7), DEALS[code ?? 'MIA10'], currency].join(' '),
  );
  const fee = `${YEAR}-03 DEALBEN EUR`;
  const names = [...new Set([...groups.keys(), fee])].toSorted();
  const returns: Answer[] = [];
  const cohorts: Answer[] = [];
  const earned: Record<string, bigint> = {};
  let withoutLines = 0;
  for (const name of names) {
    const [month = '', dealId = '', currency = ''] = name.split(' ');
    const group = groups.get(name) ?? [];
    const won: Order[] = [];
    let [returning, unknown, unrated, unlined, sent, net, commission] = [0, 0, 0, 0, 0, 0, 0n];
    // In the reporting currency, in hundred-thousandths: exact, since rates have three decimals.
    let [netInEuros, commissionInEuros, unconverted] = [0n, 0n, 0];
    for (const order of group) {
      const isKept = order.cancelled === 'never';
      const left = leftOf(order);
      sent += order.cents;
      net += left;
      const earns = earnedOf(order, rates.get(order) ?? null);
      if (earns === 'rate') unrated += 1;
      else if (earns === 'products') unlined += 1;
      else commission += earns;
      const dollar = dollarOn(order.at);
      if (left > 0 && currency === 'USD' && dollar === null) unconverted += 1;
      else {
        const inEuros = (cents: bigint): bigint =>
          cents * (currency === 'EUR' ? 1_000n : BigInt(dollar ?? 0));
        netInEuros += inEuros(BigInt(left));
        if (typeof earns === 'bigint') commissionInEuros += inEuros(earns);
      }
      const first = byCustomer.get(order.email)?.[0];
      if (!isKept) continue;
      if (order.email === '') unknown += 1;
      else if (first !== order) returning += 1;
      else if (order.at < knownSince + 90 * DAY_MS) unknown += 1;
      else won.push(order);
    }
    const total = `${dealId} ${currency}`;
    earned[total] = (earned[total] ?? 0n) + commission;
    const fees = name === fee ? 20_000n : 0n;
    const cost = unrated + unlined > 0 ? null : commission + fees;
    withoutLines += unlined;
    // The margin is in tenths of a percent, so the profit in hundred-thousandths is cents × 425, less the cost. Halves are
    // rounded away from zero.
    const exact = cost === null ? null : BigInt(net) * BigInt(MARGIN * 10) - cost * 1_000n;
    const profit = exact === null ? null : (exact + (exact < 0n ? -5n : 5n)) / 10n;
    returns.push({
      month: `${month}-01`,
      deal_id: dealId,
      currency,
      orders: String(group.length),
      sent_amount: cents(BigInt(sent)),
      net_amount: cents(BigInt(net)),
      unrated_orders: String(unrated),
      unlined_orders: String(unlined),
      cost_amount: cost === null ? null : cents(cost),
      profit_amount: profit === null ? null : tenThousandths(profit),
      new_customers: String(won.length),
      returning_orders: String(returning),
      unknown_orders: String(unknown),
      unconverted_orders: String(unconverted),
      net_reporting_amount: unconverted > 0 ? null : hundredThousandths(netInEuros),
      cost_reporting_amount:
        unconverted > 0 || cost === null ? null : hundredThousandths(commissionInEuros + fees * 1_000n),
    });
    if (won.length === 0) continue;
    const last = Math.max(...won.map(({ at }) => at));
    const worth = (days: number): string | null => {
      if (last + days * DAY_MS > now) return null;
      const later = won.flatMap(({ email, at }) =>
        (byCustomer.get(email) ?? []).filter(
          (other) => other.currency === currency && other.at < at + days * DAY_MS,
        ),
      );
      return cents(BigInt(later.reduce((sum, { finalCents }) => sum + finalCents, 0)));
    };
    cohorts.push({
      month: `${month}-01`,
      deal_id: dealId,
      currency,
      new_customers: String(won.length),
      repeat_customers: String(won.filter(({ email }) => (byCustomer.get(email)?.length ?? 0) > 1).length),
      net_30_amount: worth(30),
      net_90_amount: worth(90),
      net_365_amount: worth(365),
    });
  }
  return {
    returns,
    cohorts,
    conflicts: conflictsOf(orders),
    claims: claimsOf(orders),
    changes: { first: changesBy('first', orders), last: changesBy('last', orders) },
    withoutLines,
    terms: termsCsv(tier),
    told: posted
      .filter((order) => order.cents !== leftOf(order))
      .map((order) => {
        const [before, after] = [order.cents, leftOf(order)].map(
          (amount) => `${(amount / 100).toFixed(2)} ${order.currency}`,
        );
        const kind = order.cancelled === 'after' ? 'cancelled' : 'changed';
        return `${DEALS[order.code ?? 'MIA10']} - order ${order.id}: ${kind}, ${before} to ${after}`;
      })
      .toSorted(),
    counted: Object.fromEntries(
      [...Map.groupBy(posted, ({ code }) => DEALS[code ?? 'MIA10'])].map(([deal, of]) => [deal, of.length]),
    ),
    earned: Object.fromEntries(
      Object.entries(earned).flatMap(([name, sum]) => (sum === 0n ? [] : [[name, cents(sum)]])),
    ),
  };
}

/**
 * Returns the expected conflicts. An order that was sent stays, with the amount that was sent. A held order
 * has the amount of the last export, and disappears when it is cancelled.
 */
function conflictsOf(orders: readonly Order[]): readonly Answer[] {
  return orders
    .filter(({ conflict, cancelled }) => conflict !== 'none' && cancelled !== 'before')
    .filter(({ conflict, cancelled }) => conflict === 'named' || cancelled === 'never')
    .toSorted((one, other) => one.at - other.at)
    .map((order) => {
      const [first = 'MIA10', last = first] = codesOf(order);
      const isNamed = order.conflict === 'named';
      return {
        order_id: order.id,
        conflict: order.conflict,
        amount: cents(BigInt(isNamed ? order.cents : order.finalCents)),
        disposition: isNamed ? 'accepted' : 'held',
        target: isNamed ? 'deal:DEALMIA' : null,
        first_target: `deal:${DEALS[first]}`,
        last_target: `deal:${DEALS[last]}`,
        explicit_target: isNamed ? 'deal:DEALMIA' : null,
      };
    });
}

/** A rule moves the orders that are held for their codes. What the export names decides by every rule. */
function changesBy(rule: 'first' | 'last', orders: readonly Order[]): readonly (readonly unknown[])[] {
  const held = orders.filter(({ conflict, cancelled }) => conflict === 'codes' && cancelled === 'never');
  const groups = Map.groupBy(held, (order) => {
    const codes = codesOf(order);
    const code = (rule === 'first' ? codes[0] : codes.at(-1)) ?? 'MIA10';
    return JSON.stringify(['held: ambiguous codes', `deal:${DEALS[code]}`, order.currency, false]);
  });
  return [...groups]
    .map(([key, of]) => [
      ...(JSON.parse(key) as unknown[]),
      cents(BigInt(of.reduce((sum, { finalCents }) => sum + finalCents, 0))),
      of.length,
    ])
    .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/** Every second order is claimed by its creator, and each sixth by BEN as well; others do not exist, or only seem to. */
function claimsOf(orders: readonly Order[]): SyntheticYear['claims'] {
  const dayOf = ({ at }: Order): string => new Date(at).toISOString().slice(0, 10);
  const answerFor = (order: Order, creator: Code): string => {
    const { code, cancelled, conflict } = order;
    const isNamed = conflict === 'named' && creator === 'MIA10';
    const isHeld = conflict === 'codes' && cancelled !== 'before';
    if (code !== null && cancelled !== 'before' && !isHeld) {
      if (code !== creator) return 'credited_to_another';
      return cancelled === 'after' ? 'no_longer_counted' : 'credited';
    }
    if (!isNamed && !codesOf(order).includes(creator)) return 'no_code';
    return isHeld && cancelled === 'never' ? 'held' : 'excluded';
  };
  return [
    ...orders.flatMap((order, index) => {
      if (index % 2 === 1) return [];
      const { id, code } = order;
      const by = new Set<Code>([code ?? 'MIA10', ...(index % 3 === 0 ? (['BEN15'] as const) : [])]);
      return [...by].map(
        (creator) => [`${DEALS[creator]},${id},,,${dayOf(order)},`, answerFor(order, creator)] as const,
      );
    }),
    ...orders
      .filter(
        ({ code, cancelled, finalCents, cents: first }) =>
          code === 'ZOE20' && cancelled === 'never' && finalCents === first,
      )
      .map((order) => {
        const amount = `${(order.cents / 100).toFixed(2)},${order.currency}`;
        return [`DEALZOE,,${amount},${dayOf(order)},ZOE20`, 'candidates'] as const;
      }),
    // No order has this id, or this amount; after the last export, nothing is known.
    ...orders
      .slice(0, 5)
      .map((order) => [`DEALMIA,9${order.id},,,${dayOf(order)},`, 'not_in_exports'] as const),
    [`DEALMIA,,999999.99,EUR,${YEAR}-08-11,`, 'not_in_exports'],
    [`DEALMIA,99,,,${YEAR + 1}-01-05,`, 'day_not_exported'],
    [`DEALMIA,#10001,,,${YEAR}-08-11,`, 'similar_id'],
    [`DEALMAI,,999999.99,EUR,${YEAR}-08-11,`, 'owner_unknown'],
  ];
}

/** Formats cents: `1234` → `12.3400`. */
function cents(amount: bigint): string {
  return tenThousandths(amount * 100n);
}

/** Formats hundred-thousandths with the decimals that they need, at least four. */
function hundredThousandths(amount: bigint): string {
  const last = amount % 10n;
  return `${tenThousandths(amount / 10n)}${last === 0n ? '' : last}`;
}

function tenThousandths(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(5, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}
