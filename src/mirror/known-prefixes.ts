import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { countOf, execute, rowsOf } from '../db/statement.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { type AskedPrefix, firstPrefixes } from './split-prefixes.ts';

/** The result of requesting a prefix. */
export type PrefixAnswer = {
  readonly prefix: string;
  readonly askedAt: Date;
  /** Null if the request failed. */
  readonly answer: { readonly size: number; readonly answerHash: string; readonly saysMore: boolean } | null;
  readonly problem: string | null;
};

/** Adds the first prefixes, of one character each, if there are none yet. */
export async function plantPrefixes(db: Database): Promise<void> {
  await execute(db)`
    insert into mirror.prefixes (prefix)
    select prefix from jsonb_array_elements_text(${toJsonParameter(firstPrefixes())}::jsonb) prefix
    where not exists (select from mirror.prefixes)`;
}

/**
 * Lists prefixes to request: those never requested first, the shortest first, then those requested longest
 * ago. A split prefix is not requested again, because its longer prefixes cover the same handles.
 */
export async function duePrefixes(
  db: Database,
  options: { readonly askedBefore: Date; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await rowsOf<{ prefix: string }>(db)`
    select prefix from mirror.prefixes where ${isDue(options)}
    order by asked_at nulls first, length(prefix), prefix limit ${options.limit}`;
  return rows.map(({ prefix }) => prefix);
}

export async function countDuePrefixes(
  db: Database,
  options: { readonly askedBefore: Date },
): Promise<number> {
  return countOf(db)`
    select count(*) as due from mirror.prefixes where ${isDue(options)}`;
}

function isDue({ askedBefore }: { readonly askedBefore: Date }) {
  return sql`(not is_split and (asked_at is null or asked_at <= ${askedBefore.toISOString()}::timestamptz))`;
}

export async function savePrefixAnswers(db: Database, answers: readonly PrefixAnswer[]): Promise<void> {
  const rows = answers.map(({ prefix, askedAt, answer, problem }) => ({
    prefix,
    asked_at: askedAt.toISOString(),
    results: answer?.size ?? null,
    answer_hash: answer?.answerHash ?? null,
    says_more: answer?.saysMore ?? null,
    problem,
  }));
  await execute(db)`
    update mirror.prefixes p
    set asked_at = a.asked_at, results = coalesce(a.results, p.results), answer_hash = coalesce(a.answer_hash, p.answer_hash),
        says_more = coalesce(a.says_more, p.says_more), last_error = a.problem
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb)
      as a(prefix text, asked_at timestamptz, results integer, answer_hash text, says_more boolean, problem text)
    where p.prefix = a.prefix`;
}

export async function askedPrefixes(db: Database): Promise<readonly AskedPrefix[]> {
  return rowsOf<AskedPrefix>(db)`
    select prefix, results, answer_hash as "answerHash", says_more as "saysMore", is_split as "isSplit"
    from mirror.prefixes where results is not null`;
}

export async function growPrefixes(
  db: Database,
  split: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  if (split.size === 0) return;
  await inTransaction(db, async (trx) => {
    await execute(trx)`
      insert into mirror.prefixes (prefix)
      select prefix from jsonb_array_elements_text(${toJsonParameter([...split.values()].flat())}::jsonb) prefix
      on conflict do nothing`;
    await execute(trx)`
      update mirror.prefixes set is_split = true
      where prefix in (select jsonb_array_elements_text(${toJsonParameter([...split.keys()])}::jsonb))`;
  });
}
