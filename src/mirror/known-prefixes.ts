import type { NotNull } from 'kysely';
import { inTransaction } from '../db/in-transaction.ts';
import { type Database, execute, toJsonParameter } from '../db/statement.ts';
import { type AskedPrefix, firstPrefixes } from './split-prefixes.ts';

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
  const rows = await selectDue(db, options.askedBefore)
    .select('prefix')
    .orderBy('asked_at', (order) => order.asc().nullsFirst())
    .orderBy(({ fn }) => fn('length', ['prefix']))
    .orderBy('prefix')
    .limit(options.limit)
    .execute();
  return rows.map(({ prefix }) => prefix);
}

export async function countDuePrefixes(db: Database, askedBefore: Date): Promise<number> {
  const counted = selectDue(db, askedBefore).select(({ fn }) => fn.countAll().as('due'));
  return Number((await counted.executeTakeFirstOrThrow()).due);
}

function selectDue(db: Database, askedBefore: Date) {
  return db
    .selectFrom('mirror.prefixes')
    .where('is_split', '=', false)
    .where((eb) => eb.or([eb('asked_at', 'is', null), eb('asked_at', '<=', askedBefore)]));
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
    set asked_at = a.asked_at, results = coalesce(a.results, p.results),
      answer_hash = coalesce(a.answer_hash, p.answer_hash),
        says_more = coalesce(a.says_more, p.says_more), last_error = a.problem
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb)
      as a(prefix text, asked_at timestamptz, results integer, answer_hash text, says_more boolean,
        problem text)
    where p.prefix = a.prefix`;
}

export async function askedPrefixes(db: Database): Promise<readonly AskedPrefix[]> {
  return db
    .selectFrom('mirror.prefixes')
    .select([
      'prefix',
      'results',
      'answer_hash as answerHash',
      'says_more as saysMore',
      'is_split as isSplit',
    ])
    .where('results', 'is not', null)
    .$narrowType<{ results: NotNull; answerHash: NotNull; saysMore: NotNull }>()
    .execute();
}

export async function growPrefixes(
  db: Database,
  split: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  if (split.size === 0) return;
  await inTransaction(db, async (trx) => {
    await execute(trx)`
      insert into mirror.prefixes (prefix)
      select prefix
      from jsonb_array_elements_text(${toJsonParameter([...split.values()].flat())}::jsonb) prefix
      on conflict do nothing`;
    await execute(trx)`
      update mirror.prefixes set is_split = true
      where prefix in (select jsonb_array_elements_text(${toJsonParameter([...split.keys()])}::jsonb))`;
  });
}
