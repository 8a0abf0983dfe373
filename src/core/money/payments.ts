/** What can become of a payment. */
export const PAYMENT_STATES = [
  'proposed',
  'exported',
  'partly_paid',
  'paid',
  'returned',
  'cancelled',
] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** The kinds of files for the bank. */
export const FILE_KINDS = ['pain.001', 'csv'] as const;
export type FileKind = (typeof FILE_KINDS)[number];
