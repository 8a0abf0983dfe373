import { type RawBuilder, sql, type Transaction } from 'kysely';
import { CONFLICTING_STATES, type HoldReason } from '../../core/source.ts';
import { fileName } from '../../core/text/file-name.ts';
import { plural } from '../../core/text/plural.ts';
import { toArrayParameter } from '../../db/array-parameters.ts';
import { countOf, rowOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import type { OtherAges } from './source-ages.ts';

/*
 * Clicks and creators follow the rule of orders (orders/order-by-age.ts): the newest file counts, whichever is
 * read last. Their tables keep one row for each thing that a file is about, without its earlier states:
 *
 *   the row is stated by a newer file              → it stays
 *   nothing says which is newer, and both agree    → both files state it
 *   nothing says which is newer, and they differ   → the file is held, and so are the rows that it contradicts
 *   otherwise                                      → the file replaces it
 *
 * So nothing depends on which of the two was read first. The hold ends once ages are known, once a newer file states
 * the rows, or once a person says which file is newer.
 */

/**
 * A table of what files state, with the columns `source`, `source_file_id`, `line_no`, `also_stated_by` and
 * `contradicted_by`.
 */
export type RowTable = {
  readonly table: string;
  /** Columns that tell the rows of a source apart. */
  readonly key: readonly string[];
  /** Columns that make up what a row states. Two files that differ in one of them contradict each other. */
  readonly states: readonly string[];
  /** Columns that only describe it. */
  readonly describes: readonly string[];
  /** The new value of `stated_at` for the row `c`. */
  readonly statedAt: RawBuilder<unknown>;
  /** SQL for what a staged file states: these columns and `line_no`, one row for each key. */
  readonly stated: (sourceFileId: string) => RawBuilder<unknown>;
};

export type StagedFile = {
  readonly sourceFileId: string;
  readonly source: string;
  readonly others: OtherAges;
};

/** Makes the rows of a staged file current, except those that a newer file states. @returns the number of these. */
export async function replaceRows(
  trx: Transaction<DB>,
  { table, key, states, describes, statedAt, stated }: RowTable,
  { sourceFileId, source, others }: StagedFile,
): Promise<number> {
  const { newer, unordered } = others;
  const columns = [...key, ...states, ...describes];
  return countOf(trx)`
    with stated as materialized (${stated(sourceFileId)}),
    replaced as (
      insert into ${sql.table(table)} as c (source, ${listOf('', columns)}, source_file_id, line_no)
      select ${source}, ${listOf('s', columns)}, ${sourceFileId}::bigint, s.line_no
      from stated s
      order by s.line_no
      on conflict (source, ${listOf('', key)}) do update
      set (${listOf('', [...states, ...describes])}) = row(${listOf('excluded', [...states, ...describes])}),
          source_file_id = excluded.source_file_id, line_no = excluded.line_no, stated_at = ${statedAt},
          also_stated_by = ${amongThese(statingFiles, unordered)},
          contradicted_by = ${amongThese(sql`c.contradicted_by`, [...newer, ...unordered])}
      where not (${statingFiles} && ${idsOf(newer)})
      returning 1
    )
    select (select count(*) from stated) - (select count(*) from replaced) as older`;
}

/**
 * Returns the reason to hold a staged file that contradicts rows of a file of which nothing says whether it is newer,
 * and notes the contradiction in these rows, for as long as the file is held.
 */
export async function holdConflicting(
  trx: Transaction<DB>,
  { table, key, states, stated }: RowTable,
  { sourceFileId, source, others: { newer, unordered } }: StagedFile,
): Promise<HoldReason | null> {
  if (unordered.length === 0) return null;
  const first = await rowOf<{ line: string; uri: string; all: number }>(trx)`
    with contradicted as (
      update ${sql.table(table)} c
      set contradicted_by = array_append(array_remove(c.contradicted_by, ${sourceFileId}::bigint),
        ${sourceFileId}::bigint)
      from (${stated(sourceFileId)}) s
      where c.source = ${source} and row(${listOf('c', key)}) = row(${listOf('s', key)})
        and ${statingFiles} && ${idsOf(unordered)} and not (${statingFiles} && ${idsOf(newer)})
        and row(${listOf('c', states)}) is distinct from row(${listOf('s', states)})
      returning s.line_no, c.source_file_id
    )
    select c.line_no as line, f.uri, (count(*) over ())::float8 as all
    from contradicted c join intake.source_files f on f.source_file_id = c.source_file_id
    order by c.line_no limit 1`;
  if (first === undefined) return null;
  const more = first.all - 1;
  return {
    code: CONFLICTING_STATES,
    message: `Line ${first.line} ${more === 0 ? 'states' : `and ${plural(more, 'more row')} state`} something else than ${fileName(first.uri)}, and nothing says which of the two files is newer. Until that is known, neither counts where they differ.`,
    help: `Put the date of the export into the names of the files of ${source}, or set its age. If this file is the newer one: files release NAME --newest --reason '…'. If you do not need it: files release NAME --reason '…'.`,
    isTransient: true,
  };
}

/** SQL that is true if a held file contradicts row `c`, and nothing says which of the two is newer. */
export const isContradicted = sql<boolean>`(c.contradicted_by <> '{}' and exists (
  select from intake.source_files f
  where f.source_file_id = any(c.contradicted_by) and f.state in ('held', 'reading')))`;

/** SQL for the files that state row `c`, as far as they are not known to be older than another of them. */
const statingFiles = sql`(c.source_file_id || c.also_stated_by)`;

function amongThese(files: RawBuilder<unknown>, these: readonly string[]): RawBuilder<unknown> {
  return sql`array(select id from unnest(${files}) as id where id = any(${idsOf(these)}))`;
}

function idsOf(sourceFileIds: readonly string[]): RawBuilder<unknown> {
  return sql`${toArrayParameter(sourceFileIds) ?? '{}'}::bigint[]`;
}

function listOf(alias: string, columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(alias === '' ? column : `${alias}.${column}`)));
}
