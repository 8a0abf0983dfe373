/** The checks of a file before its rows take effect: what each compares, and what the files contain that have it. */
export const FILE_CHECKS = {
  rows: { compares: 'the number of rows', of: 'anything' },
  orders: { compares: 'the number of orders', of: 'orders' },
  new_orders: { compares: 'the number of orders that no earlier file has', of: 'orders' },
  rejected: { compares: 'the share of rejected rows', of: 'anything' },
  blank_codes: { compares: 'the share of orders without a code, link or handle', of: 'orders' },
  unattributed: { compares: 'the share of orders with a code whose codes have no owner', of: 'orders' },
  refused_consent: { compares: 'the share of customers who refused', of: 'customers' },
  currencies: { compares: 'the share of each currency', of: 'orders' },
  statuses: { compares: 'the share of each status', of: 'orders' },
  median_value: { compares: 'the median order value of each currency', of: 'orders' },
  overlap: { compares: 'the share of orders that earlier files have', of: 'orders' },
  newest_order: { compares: 'the age of the newest order', of: 'orders' },
  header: { compares: 'the columns', of: 'columns' },
} as const satisfies Readonly<
  Record<string, { compares: string; of: 'orders' | 'customers' | 'columns' | 'anything' }>
>;

export type FileCheckName = keyof typeof FILE_CHECKS;
/** What a check compares: `the number of rows`. Its name, if there is no such check any more. */
export function sayCheck(check: string): string {
  const known: Readonly<Record<string, { readonly compares: string }>> = FILE_CHECKS;
  return known[check]?.compares ?? check;
}

export const FILE_CHECK_NAMES = Object.keys(FILE_CHECKS) as readonly FileCheckName[];

/**
 * What to do if a check finds something unusual: `off` disables the check, `warn` reports it, `hold` holds
 * the file.
 */
export const CHECK_ACTIONS = ['off', 'warn', 'hold'] as const;
export type CheckAction = (typeof CHECK_ACTIONS)[number];

/** How a column has changed since earlier files of the source. */
export const HEADER_CHANGES = ['new', 'gone', 'renamed', 'reordered'] as const;
export type HeaderChange = (typeof HEADER_CHANGES)[number];
export const HEADER_ACTIONS = ['accept', 'warn', 'hold'] as const;
export type HeaderAction = (typeof HEADER_ACTIONS)[number];

/** A date on which an unusual number of orders is expected. */
export type ExpectedDate = {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly name: string;
  /** Null: for every source. */
  readonly source: string | null;
};
