import { type RawBuilder, sql } from 'kysely';
import type { RowProblem } from '../../core/known-error.ts';
import type { Money } from '../../core/money.ts';
import { foldCode, foldHandle } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { ClaimLine } from './parse-claims.ts';

/*
 * Claims that orders were not credited, in ops.credit_claims. Nothing here credits an order. While a claim is open, its
 * answer is decided whenever it is read; an answer that was given to the creator is kept as it was given.
 */

export const CLAIM_STATES = ['open', 'answered', 'upheld', 'rejected', 'withdrawn'] as const;
export type ClaimState = (typeof CLAIM_STATES)[number];

/** An order as its source names it. Its source is null if only the ledger knows the order. */
export type FoundOrder = { readonly source: string | null; readonly orderId: string };

/** An answer as it was given. */
export type GivenAnswer = {
  readonly kind: string;
  /** The answer with its proof, for people of the brand. */
  readonly text: string;
  /** The answer for the creator. It names no other creator, and no order that the claim does not name. */
  readonly reply: string;
  /** The order that it is about, however the claim names it. Null: none was found, or only candidates. */
  readonly order: FoundOrder | null;
  /** What was credited to the creator for the order. Null: nothing. */
  readonly credited: Money | null;
  /** Month of the first closed statement that counts the order, such as `2026-10`. */
  readonly statementMonth: string | null;
};

export type KeptClaim = Omit<ClaimLine, 'key' | 'line'> & {
  readonly claimId: string;
  readonly state: ClaimState;
  /** Null if it came by the form of the console. */
  readonly file: string | null;
  readonly line: number | null;
  readonly addedAt: Date;
  readonly addedBy: string;
  /** Null while it is open. */
  readonly given: GivenAnswer | null;
  readonly answeredAt: Date | null;
  readonly answeredBy: string | null;
  readonly closedBy: string | null;
  readonly closeReason: string | null;
};

/** What became of the lines of a list. */
export type InsertedClaims = {
  /** Ids of the new claims. */
  readonly added: readonly string[];
  /** Ids of open claims to which lines added what they did not state, such as the day. */
  readonly completed: readonly string[];
  /** Values of lines that an open claim states otherwise. The claim keeps its own. */
  readonly contradictions: readonly RowProblem[];
};

/**
 * Adds claims. A line that is one that is known already adds what that claim does not state, while it is open, and
 * otherwise changes nothing.
 */
export async function insertClaims(
  trx: DatabaseTransaction,
  {
    lines,
    file,
    deadline,
    addedBy,
  }: {
    readonly lines: readonly ClaimLine[];
    readonly file: string | null;
    /** Of lines that have none. */
    readonly deadline: string | null;
    readonly addedBy: string;
  },
): Promise<InsertedClaims> {
  const given = lines.map((line) => ({ ...line, folded: foldHandle(line.creator) }));
  const added = await rowsOf<{ id: string }>(trx)`
    insert into ops.credit_claims (claim_key, creator, creator_folded, order_id, amount, currency, claimed_on,
      code, deadline_on, file_name, line_no, added_by)
    select key, creator, folded, "orderId", amount, currency, day, code,
      coalesce(deadline, ${deadline}::date), ${file === null ? null : maskAddresses(file)}::text,
      case when ${file}::text is not null then line end, ${maskAddresses(addedBy)}
    from jsonb_to_recordset(${toJsonParameter(given)}::jsonb)
      as g (key text, creator text, folded text, "orderId" text, amount numeric, currency text, day date,
        code text, deadline date, line integer)
    order by line
    on conflict (claim_key) do nothing
    returning claim_id as id`;
  const first = (value: string, stated = value) =>
    sql`(array_agg(${sql.ref(value)} order by line) filter (where ${sql.ref(stated)} is not null))[1]`;
  const completed = await rowsOf<{ id: string }>(trx)`
    with given as (
      select key, ${first('amount')} as amount, ${first('currency', 'amount')} as currency,
        ${first('day')} as day, ${first('code')} as code,
        coalesce(${first('deadline')}, ${deadline}::date) as deadline
      from jsonb_to_recordset(${toJsonParameter(given)}::jsonb)
        as g (key text, amount numeric, currency text, day date, code text, deadline date, line integer)
      group by key
    )
    update ops.credit_claims c
    set amount = coalesce(c.amount, g.amount), currency = coalesce(c.currency, g.currency),
      claimed_on = coalesce(c.claimed_on, g.day),
      code = coalesce(c.code, g.code), deadline_on = coalesce(c.deadline_on, g.deadline)
    from given g
    where c.claim_key = g.key and c.state = 'open'
      and (c.amount is null and g.amount is not null or c.claimed_on is null and g.day is not null
      or c.code is null and g.code is not null or c.deadline_on is null and g.deadline is not null)
    returning c.claim_id as id`;
  const contradicted = await rowsOf<Contradicted>(trx)`
    select g.line, c.claim_id as "claimId", g.day as "lineDay", g.code as "lineCode",
      g.amount || ' ' || g.currency as "lineMoney", ${day('c.claimed_on')} as day, c.code,
      (c.amount, c.currency) <> (g.amount::numeric, g.currency) as "isOtherMoney"
    from jsonb_to_recordset(${toJsonParameter(given)}::jsonb) as g (key text, amount text, currency text,
      day text, code text, line integer)
    join ops.credit_claims c on c.claim_key = g.key and c.state = 'open'
    order by g.line`;
  return {
    added: added.map(({ id }) => id),
    completed: completed.map(({ id }) => id),
    contradictions: contradicted.flatMap(contradictionsOf),
  };
}

type Contradicted = {
  readonly line: number;
  readonly claimId: string;
  readonly lineDay: string | null;
  readonly lineCode: string | null;
  readonly lineMoney: string | null;
  readonly day: string | null;
  readonly code: string | null;
  readonly isOtherMoney: boolean | null;
};

function contradictionsOf(of: Contradicted): readonly RowProblem[] {
  const { line, claimId, lineDay, lineCode, lineMoney } = of;
  const problem = (column: string, value: string): RowProblem => ({
    line,
    column,
    value,
    reason: `Claim ${claimId} of this order states another one, and keeps it.`,
    help: 'Ask the creator which one is right. If it is this one, answer by what the order itself says.',
  });
  return [
    ...(lineDay !== null && of.day !== null && lineDay !== of.day ? [problem('day', lineDay)] : []),
    ...(lineMoney !== null && of.isOtherMoney === true ? [problem('amount', lineMoney)] : []),
    ...(lineCode !== null && of.code !== null && foldCode(lineCode) !== foldCode(of.code)
      ? [problem('code', lineCode)]
      : []),
  ];
}

export type ClaimFilter = {
  readonly state?: ClaimState | null;
  /** Handle or deal, in any spelling. */
  readonly creator?: string | null;
  /** Id of the last claim of the previous page. */
  readonly after?: string | null;
  readonly limit?: number | null;
};

/** Lists claims, the newest first. */
export async function listClaims(
  db: Database,
  { state = null, creator = null, after = null, limit = null }: ClaimFilter,
): Promise<readonly KeptClaim[]> {
  const folded = creator === null ? null : foldHandle(creator);
  return rowsOf<KeptClaim>(db)`
    select claim_id as "claimId", creator, order_id as "orderId", amount::text as amount, currency,
      ${day('claimed_on')} as day, code,
      ${day('deadline_on')} as deadline, state, file_name as file, line_no as line, added_at as "addedAt",
      added_by as "addedBy",
      case
        when answer is not null then jsonb_build_object('kind', answer, 'text', explanation, 'reply', reply,
        'order',
        case
          when found_order_id is not null
            then jsonb_build_object('source', found_source, 'orderId', found_order_id) end,
        'credited',
        case
          when credited_amount is not null
            then jsonb_build_object('amount', credited_amount::text, 'currency', credited_currency) end,
        'statementMonth', to_char(statement_month, 'YYYY-MM')) end as given,
      answered_at as "answeredAt", answered_by as "answeredBy", closed_by as "closedBy",
      close_reason as "closeReason"
    from ops.credit_claims
    where (${state}::text is null or state = ${state})
      and (${folded}::text is null or creator_folded = ${folded})
      and (${after}::bigint is null or claim_id < ${after}::bigint)
    order by claim_id desc limit ${limit}::bigint`;
}

function day(column: string): RawBuilder<unknown> {
  return sql`to_char(${sql.ref(column)}, 'YYYY-MM-DD')`;
}

/** Keeps the answers to open claims, which are given now. */
export async function keepAnswers(
  trx: DatabaseTransaction,
  answers: readonly (GivenAnswer & { readonly claimId: string })[],
  answeredBy: string,
): Promise<void> {
  await execute(trx)`
    update ops.credit_claims c
    set state = 'answered', answer = g.kind, explanation = g.text, reply = g.reply,
      found_source = g."order" ->> 'source', found_order_id = g."order" ->> 'orderId',
      credited_amount = (g.credited ->> 'amount')::numeric,
      credited_currency = g.credited ->> 'currency', statement_month = (g."statementMonth" || '-01')::date,
      answered_at = clock_timestamp(), answered_by = ${maskAddresses(answeredBy)}
    from jsonb_to_recordset(${toJsonParameter(answers)}::jsonb)
      as g ("claimId" bigint, kind text, text text, reply text, "order" jsonb, credited jsonb,
        "statementMonth" text)
    where c.claim_id = g."claimId" and c.state = 'open'`;
}

/** Locks a claim and reads it. Null: there is none. */
export async function lockClaim(trx: DatabaseTransaction, claimId: string): Promise<KeptClaim | null> {
  await trx.selectFrom('ops.credit_claims').where('claim_id', '=', claimId).forUpdate().execute();
  const [claim] = await listClaims(trx, { after: (BigInt(claimId) + 1n).toString(), limit: 1 });
  return claim?.claimId === claimId ? claim : null;
}

/** Closes a claim that has its answer, or opens it again, so that its answer is decided anew. */
export async function setClaimState(
  trx: DatabaseTransaction,
  {
    claimId,
    state,
    by,
    reason,
  }: { claimId: string; state: Exclude<ClaimState, 'answered'>; by: string; reason: string },
): Promise<void> {
  const unanswered = {
    answer: null,
    explanation: null,
    reply: null,
    found_source: null,
    found_order_id: null,
    credited_amount: null,
    credited_currency: null,
    statement_month: null,
    answered_at: null,
    answered_by: null,
    closed_at: null,
    closed_by: null,
    close_reason: null,
  };
  const closed = {
    closed_at: sql<Date>`clock_timestamp()`,
    closed_by: maskAddresses(by),
    close_reason: maskAddresses(reason),
  };
  await trx
    .updateTable('ops.credit_claims')
    .set({ state, ...(state === 'open' ? unanswered : closed) })
    .where('claim_id', '=', claimId)
    .execute();
}
