import type { Transaction } from 'kysely';
import type { OptionalColumn, OptionalField } from '../../core/customer.ts';
import type { HoldReason } from '../../core/source.ts';
import { formatCount, plural } from '../../core/text/plural.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { countsOf, type Database, execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { judgeRows, limitOf, MIN_FOR_SHARE, percent } from '../files/judge-rows.ts';
import { type FileColumns, type SealedRead, type SealReadOptions, sealRead } from '../files/seal-read.ts';
import type { CustomerTotals } from './create-customer-stager.ts';
import { stageCustomers } from './stage-customers.ts';
import { membersOfBatch, takeOutGone } from './waiting-batches.ts';

export type SealCustomersOptions = SealReadOptions & {
  readonly staged: CustomerTotals;
  readonly maxRejectedShare: number;
  /**
   * A file is held if a larger share of the cells in a column that only look-ups need cannot be read; 0 to 1.
   */
  readonly maxUnreadableShare: number;
  readonly source: string;
  readonly brandId: string;
};

type Totals = { readonly customerRows: number; readonly rejectedRows: number; readonly stored: number };

/**
 * Seals a file that was read for its customers, or holds it if its rows do not add up or too many of them are
 * unusable.
 */
export function sealCustomers(db: Database, options: SealCustomersOptions): Promise<SealedRead<Totals>> {
  const { staged, sourceFileId } = options;
  return sealRead<Totals>(db, options, {
    settle: (trx) => countStored(trx, sourceFileId, staged.customerRows),
    findHoldReason: (trx, totals) => findReason(trx, options, totals),
    measure: async (_trx, { rejectedRows }) => {
      const { yes, no, blank } = staged.seen.consent;
      return { rejectedRows, orders: null, consent: { customers: yes + no + blank, refused: no } };
    },
    publish: async (trx, { customerRows, rejectedRows }) => {
      await stageDoubts(trx, options);
      return columnsOf(staged, { customerRows, rejectedRows });
    },
  });
}

/**
 * Records a no for customers whose word of consent the layout does not list: it may mean no. This waits until
 * the file counts, because a file of the wrong format would refuse for everybody.
 */
async function stageDoubts(
  trx: Transaction<DB>,
  { staged: { doubts }, brandId, ...read }: SealCustomersOptions,
): Promise<void> {
  for (let at = 0; at < doubts.length; at += STATEMENT_CUSTOMERS) {
    const placed = doubts.slice(at, at + STATEMENT_CUSTOMERS);
    await stageCustomers(trx, { ...read, brandId, placed, recheckAfterDays: null, areLikelyNew: false });
  }
}
const STATEMENT_CUSTOMERS = 10_000;

function columnsOf(
  staged: CustomerTotals,
  { customerRows, rejectedRows }: Pick<Totals, 'customerRows' | 'rejectedRows'>,
): FileColumns {
  const { columns, yes, no, blank } = staged.seen.consent;
  return {
    customer_rows: customerRows,
    customers_new: staged.new,
    rejected_rows: rejectedRows,
    consent_columns: columns,
    consent_counts: JSON.stringify({ yes, no, blank }),
    passed_over: JSON.stringify(
      Object.fromEntries(Object.entries(staged.passedOver).filter(([, rows]) => rows > 0)),
    ),
  };
}

async function countStored(
  trx: Transaction<DB>,
  sourceFileId: string,
  customerRows: number,
): Promise<Totals> {
  const counts = await countsOf<'rejectedRows' | 'stored'>(trx)`
    select
      (select coalesce(sum(row_count), 0) from intake.rejected_rows
        where source_file_id = ${sourceFileId}::bigint) as "rejectedRows",
      (select coalesce(sum(customers), 0) from intake.waiting_batches
       where source_file_id = ${sourceFileId}::bigint and purpose = 'submit') as stored`;
  return { customerRows, ...counts };
}

async function findReason(
  trx: Transaction<DB>,
  { sourceFileId, rowsRead, staged, maxRejectedShare, maxUnreadableShare, source }: SealCustomersOptions,
  { customerRows: used, rejectedRows: rejected, stored }: Totals,
): Promise<HoldReason | null> {
  if (stored !== staged.toSubmit) {
    return {
      code: 'rows_do_not_add_up',
      message: `${plural(staged.toSubmit, 'customer was', 'customers were')} to be stored, but ${stored} ${stored === 1 ? 'is' : 'are'}.`,
      help: 'Read the file again with --file. If the error persists, it is a bug: please report it.',
    };
  }
  const rows = { sourceFileId, rowsRead, used, usedAs: 'of customers', rejected };
  return (
    (await judgeRows(trx, { ...rows, maxRejectedShare, source })) ??
    judgeOptionalColumns(staged.seen.optional, { source, maxUnreadableShare })
  );
}

/**
 * Returns the reason to hold a file of customers although every row can be used: too many cells in a column
 * that only look-ups need cannot be read. A single such cell does not reject its row. Many of them indicate
 * another column or another format, and conditions such as `min_spent` would then select no customer.
 */
function judgeOptionalColumns(
  columns: readonly OptionalColumn[],
  { source, maxUnreadableShare }: { source: string; maxUnreadableShare: number },
): HoldReason | null {
  for (const { column, holds, filled, unreadable, firstUnreadableLine } of columns) {
    if (filled < MIN_FOR_SHARE || unreadable <= filled * maxUnreadableShare) continue;
    const { what, check } = OPTIONAL[holds];
    return {
      code: 'unreadable_column',
      message: `${formatCount(unreadable)} of ${formatCount(filled)} cells in the column "${toPrintableLine(column)}" cannot be read as ${what}, more than the allowed ${percent(maxUnreadableShare)}. The first of them is on line ${firstUnreadableLine}.`,
      help: `${check} To read such files anyway, with these cells as blank, set ${limitOf(source, 'max_unreadable_share')}: 1.`,
    };
  }
  return null;
}

/** What the cells should contain, and what to check if they do not. */
const OPTIONAL: Readonly<Record<OptionalField, { readonly what: string; readonly check: string }>> = {
  orders_count: {
    what: 'a number of orders',
    check: 'Check which column the layout reads as columns.orders_count.',
  },
  spent: {
    what: 'an amount of money',
    check:
      'Check which column the layout reads as columns.spent, and how the layout writes amounts (money.decimal, money.thousands, money.symbols).',
  },
  currency: {
    what: 'a currency code of ISO 4217',
    check: 'Check which column the layout reads as columns.currency.',
  },
};

/**
 * Removes the customers of a file from the batches that wait to be submitted, because the file is read again
 * under other settings. Customers who may still be submitted are staged again by that reading. A batch may
 * contain customers of several files; the others keep waiting. Customers who were submitted stay submitted.
 */
export async function withdrawCustomers(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  await execute(trx)`
    with mine as materialized (
      select c.customer_hash, c.batch_id from intake.customers c
      where c.staged_file_id = ${sourceFileId}::bigint and not c.is_unsubscribed
        and exists (select from intake.waiting_batches w
          where w.batch_id = c.batch_id and w.purpose = 'submit')
    ),
    members as materialized (
      select b.batch_id, m.address, m.hash, m.place, g.customer_hash is not null as is_gone
      from intake.waiting_batches b cross join ${membersOfBatch}
      left join mine g on g.customer_hash = m.hash
      where b.purpose = 'submit'
        and (b.source_file_id = ${sourceFileId}::bigint
          or b.batch_id = any (array(select batch_id from mine)))
    ),
    ${takeOutGone},
    asked as (
      delete from intake.waiting_batches where source_file_id = ${sourceFileId}::bigint and purpose = 'lookup'
    ),
    forgotten as (
      delete from intake.customers c using mine m
      where c.customer_hash = m.customer_hash and c.earlier_submissions = 0 and c.refused_at is null
    )
    -- Whoever had refused, and for whom the file said yes with a later date, has refused again.
    update intake.customers c
    set staged_file_id = null, batch_id = null, is_unsubscribed = c.refused_at is not null,
      said_yes = c.said_yes
        and c.refused_at is null, consented_at = case when c.refused_at is null then c.consented_at end
    from mine m
    where c.customer_hash = m.customer_hash and (c.earlier_submissions > 0 or c.refused_at is not null)`;
}
