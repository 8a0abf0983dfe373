import { hash } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { CheckResult, Sample } from '../../core/checks/check-result.ts';
import type { FileStatistics } from '../../core/checks/file-statistics.ts';
import type { HoldReason } from '../../core/source.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { execute, rowOf, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { isUnowned } from './order-statistics.ts';

/** What the checks need to know about a file before its rows take effect. */
export type FileCheck = {
  /** When the file was put there, according to the store. Null if the store does not report it. */
  readonly arrivedAt: Date | null;
  readonly sizeBytes: number;
  /** Names of the file's columns, available once reading has begun. */
  readonly header: () => readonly string[];
  /** Runs all checks. A pure function that never throws: a check that fails reports this in its result. */
  readonly judge: (seen: FileStatistics, options: { readonly isReread: boolean }) => readonly CheckResult[];
};

/** The statistics that require reading the rows. */
export type Measured = Pick<FileStatistics, 'rejectedRows' | 'orders' | 'consent'>;

export type CheckFileOptions = {
  readonly sourceFileId: string;
  readonly runId: string;
  readonly rowsRead: number;
  /** True if an earlier reading of the same version has been superseded by this one. */
  readonly isReread: boolean;
  readonly check?: FileCheck;
};

/** A header is a line of an untrusted file and can contain anything, so its size is limited. */
const MAX_COLUMNS = 1_000;
const MAX_NAME = 200;
const SAMPLE_LINES = 3;
/** Number of findings shown in a message. */
const SHOWN = 3;

/**
 * Stores the statistics of a file, compares them with earlier files of its source, and stores what is
 * unusual.
 *
 * @returns the reason to hold the file, or null if no check holds it.
 */
export async function checkFile(
  trx: Transaction<DB>,
  { check, ...file }: CheckFileOptions,
  measure: () => Promise<Measured>,
): Promise<HoldReason | null> {
  if (check === undefined) return null;
  const seen = describeFile(check, file, await measure());
  const judged = check.judge(seen, { isReread: file.isReread });
  const results = await withAcknowledged(trx, file.sourceFileId, judged);
  await storeStatistics(trx, [{ seen, results }]);
  const held = await storeFindings(trx, file, results);
  return held.length === 0 ? null : toReason(held);
}

/** Returns what the checks compare: the statistics of a file that was read completely. */
export function describeFile(
  check: FileCheck,
  { sourceFileId, rowsRead }: Pick<CheckFileOptions, 'sourceFileId' | 'rowsRead'>,
  measured: Measured,
): FileStatistics {
  const header = check
    .header()
    .slice(0, MAX_COLUMNS)
    .map((name) => maskAddresses(name.replaceAll('\u0000', '')).slice(0, MAX_NAME));
  return {
    sourceFileId,
    arrivedAt: check.arrivedAt ?? new Date(),
    sizeBytes: check.sizeBytes,
    rows: rowsRead,
    header,
    headerHash: hash('sha256', JSON.stringify(header), 'base64url'),
    ...measured,
  };
}

/** True if a result becomes a finding, unless a person has accepted it. */
export function isUnusual({ verdict }: CheckResult): boolean {
  return verdict === 'warn' || verdict === 'held';
}

/**
 * Marks a result as acknowledged if a person has already accepted the same finding for this version of the
 * file.
 */
async function withAcknowledged(
  trx: Transaction<DB>,
  sourceFileId: string,
  results: readonly CheckResult[],
): Promise<readonly CheckResult[]> {
  if (!results.some(isUnusual)) return results;
  const rows = await rowsOf<{ check: string; subject: string | null }>(trx)`
    select g.check_name as check, g.subject
    from intake.source_files f
    join intake.source_files e on e.source = f.source and e.read_for = f.read_for and e.uri = f.uri
      and e.version = f.version
    join intake.check_findings g on g.source_file_id = e.source_file_id and g.acknowledged_at is not null
    where f.source_file_id = ${sourceFileId}::bigint`;
  return results.map((result) => {
    const isAcknowledged = rows.some(
      ({ check, subject }) => check === result.check && subject === result.subject,
    );
    return isAcknowledged && isUnusual(result) ? { ...result, verdict: 'acknowledged' } : result;
  });
}

/** The statistics of a file, and what the checks say about it. */
export type JudgedFile = { readonly seen: FileStatistics; readonly results: readonly CheckResult[] };

/** Stores the statistics of files, and deletes their findings that were not acknowledged, which are judged anew. */
export async function storeStatistics(trx: Transaction<DB>, files: readonly JudgedFile[]): Promise<void> {
  const [first] = files;
  if (first === undefined) return;
  const given = files.map((file) => ({ source_file_id: file.seen.sourceFileId, ...toColumns(file) }));
  const measured = (prefix: string) =>
    sql.join(Object.keys(toColumns(first)).map((column) => sql.ref(`${prefix}${column}`)));
  await execute(trx)`
    with given as materialized (
      select * from jsonb_populate_recordset(null::intake.file_statistics, ${toJsonParameter(given)}::jsonb)
    ),
    cleared as (
      delete from intake.check_findings
      where source_file_id = any (array(select source_file_id from given)) and acknowledged_at is null
    )
    insert into intake.file_statistics (source_file_id, source, read_for, ${measured('')})
    select f.source_file_id, f.source, f.read_for, ${measured('g.')}
    from given g
    cross join lateral (
      select f.* from intake.source_files f where f.source_file_id = g.source_file_id limit 1) f
    on conflict (source_file_id) do update
    set (${measured('')}, checked_at) = row(${measured('excluded.')}, excluded.checked_at) ${keepsPlan}`;
}

/** The columns of statistics. Those that the file does not have are null. */
function toColumns({ seen: { orders, consent, ...file }, results }: JudgedFile) {
  return {
    arrived_at: file.arrivedAt,
    size_bytes: file.sizeBytes,
    rows_read: file.rows,
    rejected_rows: file.rejectedRows,
    header: file.header,
    header_hash: file.headerHash,
    orders_new: orders?.new,
    orders_known: orders?.known,
    orders_judged: orders?.judged,
    blank_code_orders: orders?.blankCodes,
    coded_orders: orders?.coded,
    unowned_code_orders: orders?.unowned,
    currencies: orders?.currencies,
    statuses: orders?.statuses,
    amounts: orders?.amounts,
    newest_order_at: orders?.newestAt,
    customers: consent?.customers,
    customers_refused: consent?.refused,
    results: results.map(({ message: _, sample: __, ...result }) => result),
  } satisfies Partial<Record<keyof DB['intake.file_statistics'], unknown>>;
}

type Held = { readonly findingId: string; readonly message: string };

/** Stores the unusual results as findings. @returns the findings that hold the file. */
async function storeFindings(
  trx: Transaction<DB>,
  { sourceFileId, runId }: Pick<CheckFileOptions, 'sourceFileId' | 'runId'>,
  results: readonly CheckResult[],
): Promise<readonly Held[]> {
  const held: Held[] = [];
  for (const { check, subject, verdict, seen, expected, message, sample } of results) {
    if ((verdict !== 'warn' && verdict !== 'held') || message === null) continue;
    const lines = sample === null ? [] : await sampleLines(trx, sourceFileId, sample);
    const found = await rowOf<{ findingId: string }>(trx)`
      insert into intake.check_findings
        (source_file_id, source, check_name, subject, verdict, seen, expected, message, line_nos, run_id)
      select f.source_file_id, f.source, ${check}, ${subject}, ${verdict}, ${seen}, ${expected}, ${message},
        ${lines}::bigint[], ${runId}::bigint
      from intake.source_files f where f.source_file_id = ${sourceFileId}::bigint
      returning finding_id as "findingId"`;
    if (verdict === 'held') held.push({ findingId: found?.findingId ?? '', message });
  }
  return held;
}

/** Returns the physical line numbers of the first few rows that show what is unusual. */
async function sampleLines(
  trx: Transaction<DB>,
  sourceFileId: string,
  sample: Sample,
): Promise<readonly string[]> {
  const rows = await rowsOf<{ line: string }>(trx)`
    select line_no as line from (${linesOf(sample, sourceFileId)}) found limit ${SAMPLE_LINES}`;
  return rows.map(({ line }) => line);
}

function linesOf(sample: Sample, sourceFileId: string): RawBuilder<unknown> {
  const orders = sql`select line_no from intake.orders where source_file_id = ${sourceFileId}::bigint`;
  switch (sample.of) {
    case 'rejected':
      return sql`
        select line_no
        from intake.rejected_rows
        where source_file_id = ${sourceFileId}::bigint
        order by line_no`;
    case 'blank_codes':
      return sql`${orders} and codes = '{}' order by line_no`;
    case 'code':
      return sql`${orders} and codes <> '{}' order by line_no`;
    case 'unowned':
      return sql`${orders} and codes <> '{}' and ${isUnowned} order by line_no`;
    case 'currency':
      return sql`${orders} and currency = ${sample.word} order by line_no`;
    case 'status':
      return sql`${orders} and coalesce(status, '(none)') = ${sample.word} order by line_no`;
    case 'highest':
      return sql`${orders} order by coalesce(total, subtotal) desc nulls last, line_no`;
    case 'lowest':
      return sql`${orders} order by coalesce(total, subtotal) nulls last, line_no`;
    case 'known':
      return sql`${orders} and not is_current
        union all
        select v.line_no from intake.unchanged_orders u cross join lateral unnest(u.line_nos) as v(line_no)
        where u.source_file_id = ${sourceFileId}::bigint order by line_no`;
  }
}

function toReason(held: readonly Held[]): HoldReason {
  const more = held.length - SHOWN;
  const messages = held.slice(0, SHOWN).map(({ message }) => message);
  const ids = held.map(({ findingId }) => findingId).join(' ');
  return {
    code: 'unusual_content',
    message: `${messages.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`,
    help: `If the file is correct, run npx influencer-sync checks acknowledge ${ids} --reason '…'; the next run reads it. Otherwise put a corrected file under its name.`,
  };
}
