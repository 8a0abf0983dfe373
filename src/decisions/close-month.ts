import { formatInstant } from '../core/text/format-instant.ts';
import { plural } from '../core/text/plural.ts';
import { monthAfter } from '../core/time/month.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { type Closing, closeStatement } from '../money/close-statement.ts';
import type { Exchange } from '../money/convert-lines.ts';
import type { StatementRules } from '../money/statement.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';

export type MonthToClose = DecidedWhy & {
  /** For example `2026-10`. */
  readonly month: string;
  readonly rules: StatementRules;
  /** The reporting currency and its rates, which the statement keeps. */
  readonly exchange: Exchange | null;
};

/**
 * Closes a month permanently and records who closed it. Commands and the console both call this function, and then
 * `keepEarnings`: until then, lists of what is open still have what the month contains.
 */
export async function closeMonth(
  trx: DatabaseTransaction,
  { month, rules, exchange, reason, decidedBy, audit }: MonthToClose,
): Promise<Closing> {
  const closing = await closeStatement(trx, { month, rules, exchange, closedBy: decidedBy, reason });
  if (closing.kind !== 'closed') return closing;
  const { lines, hash } = closing;
  await audit({
    action: 'close_statement',
    subjectKind: 'statement',
    subject: month,
    summary: `The statement of ${month} is closed: ${plural(lines, 'line')}.`,
    reason,
    after: { lines, hash },
  });
  return closing;
}

/** Explains, in sentences, why a month was not closed and what to do. */
export function whyNotClosed(
  month: string,
  closing: Exclude<Closing, { readonly kind: 'closed' }>,
): { readonly message: string; readonly help: string } {
  switch (closing.kind) {
    case 'closed_already':
      return {
        message: `The statement of ${month} was closed by ${closing.by} at ${formatInstant(closing.at)} UTC.`,
        help: `See it with:  npx influencer-sync statement --month ${month}\nLater changes are in the statement of the next month.`,
      };
    case 'later_is_closed':
      return {
        message: `The statement of ${closing.month} is closed, and it includes the orders of ${month}.`,
        help: 'Close the month after it: its statement includes all changes.',
      };
    case 'month_not_over':
      return {
        message: `${month} is not over.`,
        help: `You can close it from ${monthAfter(month)}-01 on. See its present state with:  npx influencer-sync statement --month ${month}`,
      };
  }
}
