import { type RawBuilder, sql } from 'kysely';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { Exchange } from './convert-lines.ts';
import { carriedColumns, inOrder, linesOf } from './read-statement.ts';
import type { StatementRules } from './statement.ts';

export type Closing =
  | { readonly kind: 'closed'; readonly statementId: string; readonly lines: number; readonly hash: string }
  | { readonly kind: 'closed_already'; readonly by: string; readonly at: Date }
  /** A later month is already closed. Anything new will be in the next statement. */
  | { readonly kind: 'later_is_closed'; readonly month: string }
  | { readonly kind: 'month_not_over' };

/**
 * Closes a month: stores its statement permanently, with the exchange rates of its lines. The statement, its lines
 * and its hash are written in one transaction, and only one process closes at a time.
 *
 * @param options.month `2026-10`.
 * @param options.exchange the reporting currency and its rates. Null: the statement has no total of all currencies.
 */
export async function closeStatement(
  trx: DatabaseTransaction,
  options: {
    readonly month: string;
    readonly rules: StatementRules;
    readonly exchange?: Exchange | null;
    readonly closedBy: string;
    readonly reason: string;
  },
): Promise<Closing> {
  const { month, rules, exchange = null, closedBy, reason } = options;
  const reportingCurrency = exchange?.reportingCurrency ?? null;
  await suitLargeStatements(trx);
  await execute(trx)`lock table ops.statements in share row exclusive mode`;
  const first = sql`${`${month}-01`}::date`;
  const state = await rowOf<
    { is_over: boolean; later: string | null; previous_hash: string } & (
      | { by: string; at: Date }
      | { by: null; at: null }
    )
  >(trx)`
    select (clock_timestamp() at time zone ${rules.timeZone})::date >= (${first}
      + interval '1 month')::date as is_over,
      (select closed_by from ops.statements where month = ${first}) as by,
      (select closed_at from ops.statements where month = ${first}) as at,
      (select to_char(max(month), 'YYYY-MM') from ops.statements where month > ${first}) as later,
      coalesce((select hash from ops.statements order by statement_id desc limit 1), '') as previous_hash`;
  if (state === undefined) throw new Error('the state of statements could not be read');
  if (state.by !== null) return { kind: 'closed_already', by: state.by, at: state.at };
  if (state.later !== null) return { kind: 'later_is_closed', month: state.later };
  if (!state.is_over) return { kind: 'month_not_over' };
  // Writes the lines first, under the number of the coming statement: a closed statement cannot be changed.
  const number = await rowOf<{ id: string }>(trx)`
    select nextval(pg_get_serial_sequence('ops.statements', 'statement_id')) as id`;
  const statementId = number?.id ?? '';
  // What is carried forward is of the same snapshot as the lines. Both are read in one statement.
  const left = await rowOf<{ carried: string | null }>(trx)`
    ${linesOf(rules, { month })},
    written as (
    insert into ops.statement_lines (statement_id, line_no, kind, subject, entry_id, source, order_platform,
      order_id, ordered_on, due_on,
      deal_id, collab_id, brand_id, influencer_handle, currency, sent_amount, net_amount, excluded_amount,
      rate_percent, rate_from, terms_lines, terms_text, earned_amount, closed_before, amount, exchange_rate)
    select ${statementId}::bigint, row_number() over (${inOrder}), kind, subject, entry_id, source,
      order_platform, order_id, ordered_on,
      due_on, deal_id, collab_id, brand_id, influencer_handle, currency, sent_amount, net_amount,
      excluded_amount, rate_percent, rate_from, terms_lines, terms_text, earned_amount,
      closed_before, earned_amount - closed_before,
      case when currency = ${reportingCurrency} then 1 else x.rate end
    from lines
    left join (
      select currency as rated, day, rate
      from jsonb_to_recordset(${toJsonParameter(exchange?.rates ?? [])}::jsonb) as r (currency text, day date,
        rate numeric)
    ) x on x.rated = currency and x.day = due_on
    where earned_amount <> closed_before)
    select jsonb_agg(to_jsonb(c) order by "dealId", currency)::text as carried
    from (select ${carriedColumns} from carried) c`;
  const carried = left?.carried ?? null;
  await execute(trx)`
    insert into ops.statement_headings (statement_id, deal_id, influencer_handle, brand_id, brand_name)
    select distinct s.statement_id, s.deal_id, w.influencer_handle,
      nullif(d.brand_id, ''), b.name
    from reporting.statement_deals s
    left join mirror.deals d using (deal_id) left join mirror.brands b on b.brand_id = d.brand_id
    left join reporting.deal_owners w using (deal_id)
    where s.statement_id = ${statementId}::bigint and s.deal_id <> ''`;
  const written = await rowOf<{ lines: number; hash: string }>(trx)`
    insert into ops.statements (statement_id, month, time_zone, return_window_days, reporting_currency,
      carried, lines, closed_by, reason, previous_hash, hash)
    overriding system value
    select ${statementId}::bigint, ${first}, ${rules.timeZone}, ${rules.returnWindowDays},
      ${reportingCurrency}, ${carried}::jsonb,
      (select count(*) from ops.statement_lines where statement_id = ${statementId}::bigint),
      ${maskAddresses(closedBy)}, ${maskAddresses(reason)}, ${state.previous_hash},
      ${hashOf(sql`${statementId}::bigint`, { month: first, previousHash: sql`${state.previous_hash}`, reportingCurrency: sql`${reportingCurrency}::text`, carried: sql`${carried}::jsonb` })}
    returning lines::integer as lines, hash`;
  if (written === undefined) throw new Error('the statement was not written');
  return { kind: 'closed', statementId, ...written };
}

/** A closed statement whose hash, or whose link to the previous statement, does not match its rows. */
export type BrokenStatement = { readonly month: string; readonly statementId: string };

/**
 * Computes the hashes of all closed statements again.
 *
 * @returns the number of statements, and those that were changed in spite of the trigger.
 */
export async function verifyStatements(
  db: Database,
): Promise<{ readonly statements: number; readonly broken: readonly BrokenStatement[] }> {
  const rows = await rowsOf<BrokenStatement & { isSound: boolean }>(db)`
    select to_char(s.month, 'YYYY-MM') as month, s.statement_id as "statementId",
      s.hash =
        ${hashOf(sql`s.statement_id`, { month: sql`s.month`, previousHash: sql`s.previous_hash`, reportingCurrency: sql`s.reporting_currency`, carried: sql`s.carried` })}
        and s.previous_hash = lag(s.hash, 1, '') over (order by s.statement_id)
        and s.lines = (select count(*) from ops.statement_lines l
          where l.statement_id = s.statement_id) as "isSound"
    from ops.statements s order by s.statement_id`;
  return {
    statements: rows.length,
    broken: rows.filter(({ isSound }) => !isSound).map(({ month, statementId }) => ({ month, statementId })),
  };
}

/**
 * Computes the hash over every column of every line, as text that does not depend on settings of the session.
 * The excluded amount, the terms, the exchange rate and the reporting currency were added later, so they are part of the
 * hash only where there is one.
 */
function hashOf(
  statementId: RawBuilder<unknown>,
  {
    month,
    previousHash,
    reportingCurrency,
    carried,
  }: Readonly<Record<'month' | 'previousHash' | 'reportingCurrency' | 'carried', RawBuilder<unknown>>>,
): RawBuilder<string> {
  return sql`encode(sha256(convert_to(
    to_char(${month}, 'YYYY-MM') || E'\n' || ${previousHash} || E'\n'
      || coalesce('in ' || ${reportingCurrency} || E'\n', '')
      || coalesce('carried ' || ${carried}::text || E'\n', '') || coalesce((
      select string_agg((jsonb_build_array(l.line_no, l.kind, l.subject, l.entry_id, l.source,
            l.order_platform, l.order_id,
        to_char(l.ordered_on, 'YYYY-MM-DD'), to_char(l.due_on, 'YYYY-MM-DD'), l.deal_id, l.collab_id,
        l.brand_id, l.influencer_handle, l.currency,
        l.sent_amount, l.net_amount, l.rate_percent, l.rate_from, l.earned_amount, l.closed_before, l.amount)
        || case when l.excluded_amount is null then '[]' else jsonb_build_array(l.excluded_amount) end
        || case when l.terms_lines is null then '[]'
          else jsonb_build_array('terms', l.terms_lines, l.terms_text) end
        || case when l.exchange_rate is null then '[]'
          else jsonb_build_array('exchange_rate', l.exchange_rate) end)::text,
        E'\n'
        order by l.line_no)
      from ops.statement_lines l where l.statement_id = ${statementId}), ''), 'UTF8')), 'hex')`;
}
