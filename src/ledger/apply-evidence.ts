import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { DB } from '../db/tables.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import type { EntryState } from '../model/ledger.ts';
import { enterAsWriter } from './evidence-writers.ts';

/** What a signed event says about an order. */
export type OrderEvidence = {
  readonly orderId: string;
  readonly orderPlatform: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Exact, in `currency`. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** Of the raw body: the same evidence counts once. */
  readonly bodySha256: string;
};

/** State of the order's entry after it; null when there is no entry, or when the evidence was known. */
export type Applied = { readonly entryId: string; readonly state: EntryState } | null;

const SETTLED = 'an event of the service names the order';

/** The word that `holdCreditedElsewhere` uses for the same thing: there the evidence came before the entry. */
const HELD = 'evidence_of_another_poster';

/** Evidence `v` is about the order of entry `e`. An event may name no platform, or write its name in another case. */
const isAbout = sql`e.effect = 'referral' and e.order_id = v.order_id
  and lower(coalesce(v.order_platform, e.order_platform)) = lower(e.order_platform)`;

/**
 * Evidence `v` settles a doubt about `e`: it names the same deal, as far as both name one (an order that went to another deal may have been
 * sent by others), and without a platform only where no other shop has an order of that id.
 */
const settles = sql`${isAbout}
  and (e.body::jsonb ->> 'deal_id' is null or v.deal_id is null
    or regexp_replace(e.body::jsonb ->> 'deal_id', '^.*/deal/([^/?#]+).*$', '\\1') = v.deal_id)
  and (e.body::jsonb ->> 'collab_id' is null or v.collab_id is null or e.body::jsonb ->> 'collab_id' = v.collab_id)
  and (v.order_platform is not null
    or not exists (select 1 from ledger.entries o where o.order_id = e.order_id and o.entry_id <> e.entry_id))`;

/** Doubts, and those that a person wanted sent again before the evidence came. */
const isDoubt = sql`(e.state = 'in_doubt' or (e.state = 'ready' and e.doubtful_attempt is not null))`;

/**
 * T8 by evidence: stores what an event says about an order, then moves the order's entry, in the caller's commit. A doubt is accepted. An
 * order that was not sent yet is held, since others have credited it. Whatever is settled or being sent stays as it is; an answer
 * that gets lost later is settled by `settleByEvidence`.
 */
export async function applyEvidence(trx: Transaction<DB>, evidence: OrderEvidence): Promise<Applied> {
  const { orderId, orderPlatform, dealId, collabId, amount, currency, bodySha256 } = evidence;
  await enterAsWriter(trx);
  const { rows } = await sql<{ evidence_id: string; entry_id: string | null }>`
    with about as materialized (
      select e.entry_id from ledger.entries e,
        (select ${orderId}::text as order_id, ${orderPlatform}::text as order_platform) v
      where ${isAbout} order by e.entry_id limit 1 for update of e
    )
    insert into ledger.evidence (kind, order_platform, order_id, entry_id, deal_id, collab_id, amount, currency, body_sha256)
    values ('webhook_order', ${orderPlatform}, ${orderId}, (select entry_id from about), ${dealId}, ${collabId},
      ${amount}::numeric, ${currency}, ${bodySha256})
    on conflict (kind, body_sha256) do nothing
    returning evidence_id, entry_id`.execute(trx);
  const [stored] = rows;
  if (stored === undefined || stored.entry_id === null) return null;
  await sql`
    update ledger.entries e
    set state = case when ${isDoubt} then 'accepted' else 'held' end,
        state_reason = case when ${isDoubt} then ${SETTLED} else ${HELD} end,
        deal_id = coalesce(e.deal_id, v.deal_id), collab_id = coalesce(e.collab_id, v.collab_id),
        state_changed_at = clock_timestamp()
    from ledger.evidence v
    where v.evidence_id = ${stored.evidence_id}::bigint and e.entry_id = ${stored.entry_id}::bigint
      and ((${isDoubt} and ${settles}) or (e.state = 'ready' and e.doubtful_attempt is null))`.execute(trx);
  const entry = await trx
    .selectFrom('ledger.entries')
    .select('state')
    .where('entry_id', '=', stored.entry_id)
    .executeTakeFirstOrThrow();
  return { entryId: stored.entry_id, state: entry.state as EntryState };
}

/**
 * The same for many, in their order. Most events are about orders that the ledger does not have (yet): their evidence is stored in one
 * statement, and only the others are looked at one by one.
 */
export async function applyEvidences(trx: Transaction<DB>, all: readonly OrderEvidence[]): Promise<void> {
  if (all.length === 0) return;
  await enterAsWriter(trx);
  const given = toJsonParameter(all.map((evidence, place) => ({ ...evidence, place })));
  const { rows } = await sql<{ place: number }>`
    with given as materialized (
      select place, "orderId" as order_id, "orderPlatform" as order_platform, "dealId" as deal_id, "collabId" as collab_id, amount,
        currency, "bodySha256" as body_sha256
      from jsonb_to_recordset(${given}::jsonb) as g(place integer, "orderId" text, "orderPlatform" text, "dealId" text, "collabId" text,
        amount numeric, currency text, "bodySha256" text)
    ),
    known as materialized (
      select v.place from given v where exists (select from ledger.entries e where ${isAbout})
    ),
    stored as (
      insert into ledger.evidence (kind, order_platform, order_id, deal_id, collab_id, amount, currency, body_sha256)
      select 'webhook_order', order_platform, order_id, deal_id, collab_id, amount, currency, body_sha256
      from given where place not in (select place from known) order by place
      on conflict (kind, body_sha256) do nothing
    )
    select place from known order by place`.execute(trx);
  for (const { place } of rows) {
    const evidence = all[place];
    if (evidence !== undefined) await applyEvidence(trx, evidence);
  }
}

/**
 * T8 by evidence that came before the doubt: an event may overtake the answer of the request that caused it, and that answer may then be
 * lost.
 *
 * @returns how many doubts were settled.
 */
export async function settleByEvidence(db: Database): Promise<number> {
  const { numAffectedRows } = await sql`
    with durable as materialized (select set_config('synchronous_commit', 'on', true)),
    settled as materialized (
      select e.entry_id, v.deal_id, v.collab_id
      from ledger.entries e
      cross join lateral (
        select v.deal_id, v.collab_id from ledger.evidence v
        where v.order_id = e.order_id and v.kind is not distinct from 'webhook_order' and ${settles} limit 1) v
      where not e.is_settled and ${isDoubt}
    )
    update ledger.entries e
    set state = 'accepted', state_reason = ${SETTLED}, deal_id = coalesce(e.deal_id, v.deal_id),
        collab_id = coalesce(e.collab_id, v.collab_id), state_changed_at = clock_timestamp()
    from settled v, durable
    where e.entry_id = v.entry_id and e.entry_id = any (array(select entry_id from settled)) and not e.is_settled and ${isDoubt}`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
