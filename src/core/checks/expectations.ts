/** The checks of a file before its rows take effect. */
export const FILE_CHECKS = [
  'rows',
  'orders',
  'new_orders',
  'rejected',
  'blank_codes',
  'unattributed',
  'refused_consent',
  'currencies',
  'statuses',
  'median_value',
  'overlap',
  'newest_order',
  'header',
] as const;
export type FileCheckName = (typeof FILE_CHECKS)[number];

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
