import { sql, type Transaction } from 'kysely';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { enterAsWriter } from './evidence-writers.ts';

/** What a signed webhook event says about an order. */
export type OrderEvidence = {
  /** True if it says that the order is credited. */
  readonly isCredit: boolean;
  /** False if it states an amount, a currency, a platform, a deal or a collaboration that cannot be read. */
  readonly isLegible: boolean;
  readonly orderId: string;
  readonly orderPlatform: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Exact decimal, in `currency`. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** SHA-256 of the raw request body. The same event is stored only once. */
  readonly bodySha256: string;
};

const SETTLED = 'an event of the service names the order';

const CONTRADICTED =
  'not sent again, because an event of the service names the order otherwise than it was sent, cannot be read, or is of an unknown kind';

/**
 * State reason of an entry that is held because of evidence. `holdCreditedElsewhere` uses the same word when
 * the evidence came before the entry.
 */
const HELD = 'evidence_of_another_poster';

/**
 * SQL that is true if evidence `v` concerns the order of entry `e`. An event may omit the platform, and spell
 * platform and id otherwise.
 */
export const isAboutOrder = sql`
  ledger.fold_order_id(v.order_id) = ledger.fold_order_id(e.order_id)
  and ledger.is_platform(v.order_platform, e.order_platform)`;

/** SQL that is true if evidence `v` concerns the order that entry `e` credits. */
export const isAbout = sql`e.effect = 'referral' and ${isAboutOrder}`;

/**
 * True if evidence `v` settles the doubt about entry `e`. Evidence settles a doubt only if it credits the same
 * deal, collaboration, amount and currency, as far as both sides name them: an order credited otherwise may have
 * been sent by another system. What it states and cannot be read may be otherwise. Evidence without a platform counts only if no other entry has the same order id.
 */
const settles = sql`v.kind is not distinct from 'webhook_order' and v.is_legible and ${isAbout}
  and (e.body::jsonb ->> 'deal_id' is null or v.deal_id is null
    or regexp_replace(e.body::jsonb ->> 'deal_id', '^.*/deal/([^/?#]+).*$', '\\1') = v.deal_id)
  and (e.body::jsonb ->> 'collab_id' is null or v.collab_id is null
    or e.body::jsonb ->> 'collab_id' = v.collab_id)
  and coalesce(v.amount = e.amount, true) and coalesce(v.currency = e.currency, true)
  and (v.order_platform is not null
    or not exists (select 1 from ledger.entries o
      where ledger.fold_order_id(o.order_id) = ledger.fold_order_id(e.order_id) and o.entry_id <> e.entry_id))`;

/** Entries in doubt, and entries that a person approved for resending before the evidence came. */
const isDoubt = sql`(e.state = 'in_doubt' or (e.state = 'ready' and e.doubtful_attempt is not null))`;

/**
 * Transition T8 (docs/ledger.md) by evidence. Stores what events say about orders, in their order, and changes the
 * entries of these orders in the caller's transaction:
 *
 * - an entry in doubt becomes accepted, unless the event contradicts what was sent;
 * - an entry that is to be sent again becomes accepted, or else is in doubt as before: the service has an order of this id;
 * - an entry that was never sent is held, because another system has credited the order;
 * - an entry that is settled or being sent does not change. If its answer is lost later, `settleByEvidence`
 *   settles it.
 *
 * Most events concern orders that the ledger does not have yet: one statement stores all of those, and only the
 * others are applied one by one.
 */
export async function applyEvidences(trx: Transaction<DB>, all: readonly OrderEvidence[]): Promise<void> {
  if (all.length === 0) return;
  await enterAsWriter(trx);
  const given = toJsonParameter(all.map((evidence, place) => ({ ...evidence, place })));
  const rows = await rowsOf<{ place: number }>(trx)`
    with given as materialized (
      select place, case when "isCredit" then 'webhook_order' else 'webhook_other' end as kind,
        "orderId" as order_id, "orderPlatform" as order_platform, "dealId" as deal_id,
        "collabId" as collab_id, amount, currency, "isLegible" as is_legible, "bodySha256" as body_sha256
      from jsonb_to_recordset(${given}::jsonb) as g(place integer, "isCredit" boolean, "orderId" text, "orderPlatform" text,
        "dealId" text, "collabId" text, amount numeric, currency text, "isLegible" boolean, "bodySha256" text)
    ),
    known as materialized (
      select v.place from given v where exists (select from ledger.entries e where ${isAbout})
    ),
    stored as (
      insert into ledger.evidence (kind, order_platform, order_id, deal_id, collab_id, amount, currency,
        is_legible, body_sha256)
      select kind, order_platform, order_id, deal_id, collab_id, amount, currency, is_legible, body_sha256
      from given where place not in (select place from known) order by place
      on conflict (kind, body_sha256) do nothing
    )
    select place from known order by place`;
  for (const { place } of rows) {
    const evidence = all[place];
    if (evidence !== undefined) await applyEvidence(trx, evidence);
  }
}

/** Applies evidence about an order that has an entry. The same event counts once. */
async function applyEvidence(trx: Transaction<DB>, evidence: OrderEvidence): Promise<void> {
  const { isCredit, isLegible, orderId, orderPlatform, dealId, collabId, amount, currency, bodySha256 } =
    evidence;
  const stored = await rowOf<{ evidence_id: string }>(trx)`
    with about as materialized (
      select e.entry_id from ledger.entries e,
        (select ${orderId}::text as order_id, ${orderPlatform}::text as order_platform) v
      where ${isAbout} order by e.entry_id limit 1 for update of e
    )
    insert into ledger.evidence (kind, order_platform, order_id, entry_id, deal_id, collab_id, amount,
      currency, is_legible, body_sha256)
    values (${isCredit ? 'webhook_order' : 'webhook_other'}, ${orderPlatform}, ${orderId}, (select entry_id from about), ${dealId},
      ${collabId}, ${amount}::numeric, ${currency}, ${isLegible}, ${bodySha256})
    on conflict (kind, body_sha256) do nothing
    returning evidence_id`;
  if (stored === undefined) return;
  await execute(trx)`
    update ledger.entries e
    set state = case when ${isDoubt} then 'accepted' else 'held' end,
        state_reason = case when ${isDoubt} then ${SETTLED} else ${HELD} end,
        deal_id = v.deal_id, collab_id = v.collab_id, state_changed_at = clock_timestamp()
    from ledger.evidence v
    where v.evidence_id = ${stored.evidence_id}::bigint and e.entry_id = v.entry_id
      and ((${isDoubt} and ${settles}) or (e.state = 'ready' and e.doubtful_attempt is null))`;
  // Who approved to send it again did not know of the event.
  await execute(trx)`
    update ledger.entries e
    set state = 'in_doubt', state_reason = ${CONTRADICTED},
        doubted_at = coalesce(e.doubted_at, e.state_changed_at), state_changed_at = clock_timestamp()
    from ledger.evidence v
    where v.evidence_id = ${stored.evidence_id}::bigint and e.entry_id = v.entry_id and e.state = 'ready'`;
}

/**
 * Settles doubts by evidence that was stored before the doubt arose (transition T8). An event can arrive
 * before the answer of the request that caused it, and that answer can then be lost.
 *
 * @returns the number of doubts settled.
 */
export async function settleByEvidence(db: Database): Promise<number> {
  return execute(db)`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    settled as materialized (
      select e.entry_id, v.deal_id, v.collab_id
      from ledger.entries e
      cross join lateral (
        select v.deal_id, v.collab_id from ledger.evidence v
        where ledger.fold_order_id(v.order_id) = ledger.fold_order_id(e.order_id)
          and ${settles}
        limit 1) v
      where not e.is_settled and ${isDoubt}
    )
    update ledger.entries e
    set state = 'accepted', state_reason = ${SETTLED}, deal_id = v.deal_id, collab_id = v.collab_id,
        state_changed_at = clock_timestamp()
    from settled v, durable
    where e.entry_id = v.entry_id and e.entry_id = any (array(select entry_id from settled)) and ${isDoubt}`;
}
