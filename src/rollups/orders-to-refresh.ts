import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type Database, execute, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { STATED_BY_ORDER } from './disposition.ts';
import { isOrderOf, type Partition } from './partitions.ts';

/** Orders that a step reads. */
export type Orders = {
  /** SQL for the orders, in index order. */
  readonly inOrder: RawBuilder<unknown>;
  /** SQL for the sort order that finds the last of them. */
  readonly lastFirst: RawBuilder<unknown>;
  /** Condition: the step compares the order with this id, if it is current. */
  readonly isOwn: IsOwn;
};

type IsOwn = (orderId: RawBuilder<unknown>) => RawBuilder<boolean>;

const all: IsOwn = () => sql<boolean>`true`;

function readOfOrder(isOwn: IsOwn): RawBuilder<unknown> {
  return sql`o.is_current, ${isOwn(sql`o.order_id`)} as is_own, o.customer_key, ${STATED_BY_ORDER}`;
}

/** A file whose orders a job has decided about since the reports last counted it. */
export type ChangedFile = {
  readonly sourceFileId: string;
  /** As text, because a Date would lose the microseconds. */
  readonly attributedAt: string;
  /** Maximum number of order versions in the file. */
  readonly orders: number;
};

/**
 * Lists files whose decisions for a job differ from those that its reports count, in the order in which they
 * were read.
 */
export async function listChangedFiles(db: Database, job: string): Promise<readonly ChangedFile[]> {
  // `except` compares the lists by hashing. A look-up for each file takes seconds if there are a million.
  return rowsOf<ChangedFile>(db)`
    select d.source_file_id as "sourceFileId", d.attributed_at::text as "attributedAt", f.orders
    from (
      select source_file_id, attributed_at from intake.attributed_files where job = ${job}
      except
      select source_file_id, attributed_at from reporting.counted_files where job = ${job}
    ) d
    cross join lateral (
      select f.order_rows::float8 as orders from intake.source_files f
      where f.source_file_id = d.source_file_id limit 1) f
    order by d.source_file_id`;
}

/** Records that the reports of a job now count the decisions about these files. */
export async function countFiles(
  trx: Transaction<DB>,
  { job, files }: { job: string; files: readonly ChangedFile[] },
): Promise<void> {
  await execute(trx)`
    insert into reporting.counted_files (job, source_file_id, attributed_at)
    select ${job}::text, f."sourceFileId", f."attributedAt"
    from jsonb_to_recordset(${toJsonParameter(files)}::jsonb) as f ("sourceFileId" bigint,
      "attributedAt" timestamptz)
    on conflict (job, source_file_id) do update set attributed_at = excluded.attributed_at`;
}

/**
 * The orders of a file after a given one, in index order, to be compared by one partition. Those that a later file states
 * are handled with that file.
 */
export function ordersOfFile(sourceFileId: string, afterId: string, partition: Partition): Orders {
  const isOwn: IsOwn = (orderId) => isOrderOf(partition, orderId);
  return {
    isOwn,
    inOrder: sql`
      select ${readOfOrder(isOwn)} from intake.orders o
      where o.source_file_id = ${sourceFileId}::bigint and o.order_id collate "C" > ${afterId}
      order by o.source_file_id, o.order_id collate "C"`,
    lastFirst: sql`order_id collate "C" desc`,
  };
}

/** All orders of some files. */
export function ordersOfFiles(files: readonly ChangedFile[]): Orders {
  const ids = files.map(({ sourceFileId }) => sourceFileId).join(',');
  return {
    isOwn: all,
    inOrder: sql`
      select o.* from unnest(string_to_array(${ids}::text, ',')::bigint[]) as f(id)
      cross join lateral (
        select ${readOfOrder(all)} from intake.orders o where o.source_file_id = f.id offset 0) o`,
    lastFirst: sql`source desc, order_id desc`,
  };
}

/** Orders that were open when the reports last compared them, after a given one. */
export function openOrders(
  job: string,
  after: { readonly source: string; readonly orderId: string },
): Orders {
  return {
    isOwn: all,
    inOrder: sql`
      select o.* from (
        select s.source, s.order_id from reporting.order_dispositions s
        where s.job = ${job} and s.is_open and (s.source, s.order_id) > (${after.source}, ${after.orderId})
        order by s.job, s.source, s.order_id offset 0) s
      cross join lateral (
        select ${readOfOrder(all)} from intake.orders o
        where o.source = s.source and o.order_id = s.order_id and o.is_current limit 1) o
      order by s.source, s.order_id`,
    lastFirst: sql`source desc, order_id desc`,
  };
}

/**
 * Groups files into steps. Small files share a step, because thousands of commits would take longer than the
 * orders themselves. A large file is a step of its own, which the caller splits.
 */
export function* inSteps(
  files: readonly ChangedFile[],
  stepOrders: number,
): Generator<readonly [ChangedFile, ...ChangedFile[]]> {
  let step: [ChangedFile, ...ChangedFile[]] | null = null;
  let orders = 0;
  for (const file of files) {
    orders += file.orders;
    if (step !== null && orders < stepOrders) {
      step.push(file);
      continue;
    }
    if (step !== null) yield step;
    step = [file];
    orders = file.orders;
  }
  if (step !== null) yield step;
}
