import { type RawBuilder, sql } from 'kysely';
import { formatMoney, formatNumber } from '../../core/money.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { effects } from '../../ledger/effects/index.ts';
import { isAboutOrder } from '../../ledger/evidence/apply-evidence.ts';
import { amountAfter, isInSentCurrency, isOwnAdjustment } from '../../ledger/propose.ts';

/**
 * SQL for a short description of entry `e`: `shopify order 1001`, `12 clicks of deal:D1 on 2026-04-10`. It
 * contains no e-mail addresses.
 */
export const entrySubject = sql<string>`(case e.effect ${sql.join(
  Object.values(effects).map(({ effect, subject }) => sql`when ${sql.lit(effect)} then ${subject}`),
  sql` `,
)} end)`;

/** To whom something is credited, as far as it is known. */
export type Credited = { readonly dealId: string | null; readonly handle: string | null };

/** Returns to whom an entry was sent, or to whom the service credited it. */
export function creditedBy({ dealId, body }: Pick<EntryLife, 'dealId' | 'body'>): Credited {
  const sent = JSON.parse(body) as { readonly deal_id?: string; readonly influencer_handle?: string };
  return { dealId: dealId ?? sent.deal_id ?? null, handle: sent.influencer_handle ?? null };
}

export type EntryEvent = {
  readonly at: Date;
  readonly kind: 'claimed' | 'answered' | 'evidence' | 'decided' | 'changed' | 'adjusted';
  /** What happened, partly in the service's words. Contains no e-mail addresses. */
  readonly text: string;
  readonly detail: string | null;
};

/** How an order differs now from what was sent, whoever said so. */
export type Change = {
  readonly kind: 'changed' | 'refunded' | 'cancelled' | 'excluded' | 'reattributed' | 'held';
  readonly newAmount: string | null;
  /** What it came to by the last change before it was held. Null: what was sent. */
  readonly amountBefore: string | null;
  readonly detail: string | null;
  /** Nothing of it counts any more. */
  readonly isGone: boolean;
  /** A person decided so. */
  readonly isDecision: boolean;
  /** A person decided about it, now or before. */
  readonly wasDecided: boolean;
};

/** Whether it is open what, and to whom, an order that was credited counts now. */
export function isInQuestion({ isGone, kind, newAmount }: Change): boolean {
  return !isGone && (kind === 'held' || kind === 'reattributed' || newAmount === null);
}

export type EntryLife = {
  readonly entryId: string;
  /** A short description, such as `shopify order 1001`. */
  readonly subject: string;
  readonly job: string;
  readonly state: string;
  readonly stateReason: string | null;
  readonly stateChangedAt: Date;
  readonly createdAt: Date;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Who has the deal now, by the mirror or by codes.csv. Null: unknown. */
  readonly owner: string | null;
  /** The frozen request body. */
  readonly body: string;
  /** Attempts, answers, evidence, decisions and adjustments, in chronological order. */
  readonly events: readonly EntryEvent[];
  /** Null: it is as it was sent. */
  readonly change: Change | null;
};

/** The explanation of one subject by a kind of job. */
export type Explained = {
  readonly title: string;
  readonly sections: readonly {
    readonly heading: string;
    readonly lines: readonly {
      /** Null if the time is unknown. */
      readonly at: Date | null;
      readonly text: string;
      readonly detail: string | null;
    }[];
    /** The text if there are no lines. */
    readonly otherwise: string;
  }[];
  readonly entries: readonly EntryLife[];
};

/** Reads the entries `e` that match a condition, oldest first, 200 at most. */
export async function readEntryLives(
  db: Database,
  condition: RawBuilder<unknown>,
): Promise<readonly EntryLife[]> {
  const rows = await rowsOf<Omit<EntryLife, 'events' | 'change'>>(db)`
    select e.entry_id as "entryId", ${entrySubject} as subject, e.job, e.state,
      e.state_reason as "stateReason",
      e.state_changed_at as "stateChangedAt", e.created_at as "createdAt", e.amount, e.currency,
      e.deal_id as "dealId", e.collab_id as "collabId", e.body,
      (select w.influencer_handle from reporting.deal_owners w
        where w.deal_id = reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id'))) as owner
    from ledger.entries e where ${condition} order by e.entry_id limit 200`;
  return Promise.all(
    rows.map(async (entry) => ({
      ...entry,
      events: await readEvents(db, entry.entryId),
      change: await readChange(db, entry.entryId),
    })),
  );
}

/** SQL: nothing is left of an earlier change. */
const isAsSent = sql<boolean>`(kind = 'changed' and not is_decision and coalesce(new_body_hash = old_body_hash, false))`;

/** Reads the latest adjustment by the source that is responsible for the order, or by a person. */
async function readChange(db: Database, entryId: string): Promise<Change | null> {
  const change = await rowOf<Change & { readonly isAsSent: boolean }>(db)`
    select kind, new_amount::text as "newAmount", detail, is_decision as "isDecision",
      exists (select from ledger.adjustments b where b.entry_id = d.entry_id and b.is_decision) as "wasDecided",
      ${isAsSent} as "isAsSent",
      (
        select ${amountAfter('b')}::text from ledger.adjustments b
        where d.kind = 'held' and b.entry_id = d.entry_id and b.adjustment_id < d.adjustment_id
          and b.kind <> 'held' and ${isOwnAdjustment('b')} and ${isInSentCurrency('b')}
        order by b.adjustment_id desc limit 1) as "amountBefore",
      kind <> 'held' and (new_body_hash is null or coalesce(new_amount = 0, false)) as "isGone"
    from ledger.adjustments d
    where entry_id = ${entryId}::bigint and ${isOwnAdjustment('d')}
    order by adjustment_id desc limit 1`;
  return change === undefined || change.isAsSent ? null : change;
}

/**
 * Reads the history of one entry.
 * @returns null if there is no such entry.
 */
export async function readEntryLife(db: Database, entryId: string): Promise<EntryLife | null> {
  const [life] = await readEntryLives(db, sql`e.entry_id = ${entryId}::bigint`);
  return life ?? null;
}

/** The amounts of an event, to be formatted with the decimals of their currency. */
type EventAmounts = {
  readonly amount: string | null;
  readonly newAmount: string | null;
  readonly currency: string | null;
};

async function readEvents(db: Database, entryId: string): Promise<readonly EntryEvent[]> {
  const rows = await rowsOf<EntryEvent & EventAmounts>(db)`
    select at, kind, text, detail, amount::text, new_amount::text as "newAmount", currency from (
      select claimed_at as at, 1 as step, 'claimed' as kind,
        'attempt ' || attempt || ' by run ' || run_id as text, null as detail,
        null::numeric as amount, null::numeric as new_amount, null as currency
      from ledger.attempts where entry_id = ${entryId}::bigint
      union all
      select answered_at, 2, 'answered',
        'attempt ' || attempt || ': ' || kind || coalesce(', HTTP ' || http_status, '')
        || coalesce(', deal ' || deal_id, '') || coalesce(', collaboration ' || collab_id, '')
        || case via when 'direct' then '' else ', by ' || replace(via, '_', ' ') end
          || case when applied then ''
          when kind = 'accepted'
            and exists (select from ledger.double_credits d where d.entry_id = ${entryId}::bigint)
              then ' (accepted a second time: a double credit)'
          else ' (came too late to count)' end, message, null, null, null
      from ledger.answers where entry_id = ${entryId}::bigint
      union all
      select l.found_at, 2, 'answered',
        'a claim of ledger ' || left(l.ledger_id::text, 8) || ' that this database had lost: '
          || replace(l.disposition, '_', ' ')
        || coalesce(', HTTP ' || l.http_status, '') || coalesce(', deal ' || l.deal_id, '')
        || case
          when l.disposition = 'accepted'
            and exists (select from ledger.double_credits d where d.entry_id = ${entryId}::bigint)
          then ' (accepted a second time: a double credit)' else '' end, l.message, null, null, null
      from ledger.recovered_claims r join ledger.lost_claims l using (lost_claim_id)
      where r.entry_id = ${entryId}::bigint
      union all
      select v.received_at, 3, 'evidence', v.kind || coalesce(', deal ' || v.deal_id, ''), null, v.amount,
        null, v.currency
      from ledger.evidence v join ledger.entries e on e.entry_id = ${entryId}::bigint
      where v.entry_id = e.entry_id or (${isAboutOrder})
      union all
      select decided_at, 4, 'decided', decision || ' of attempt ' || attempt || ' by ' || decided_by, reason,
        null, null, null
      from ledger.decisions where entry_id = ${entryId}::bigint
      union all
      select changed_at, 5, 'changed', case kind
          when 'held' then 'held: ' || reason
          when 'withdrawn' then reason
          when 'released' then 'released, was held: ' || coalesce(reason, 'no reason')
          else 'another request replaces it' end, null, null, null, null
      from ledger.changes where entry_id = ${entryId}::bigint
      union all
      select noted_at, 6, 'adjusted',
        case when ${isAsSent} then 'again as posted' else kind end
          || case when is_decision then ' by a person' else ' in run ' || run_id end, detail, old_amount,
        case when not ${isAsSent} then new_amount end, currency
      from ledger.adjustments where entry_id = ${entryId}::bigint
    ) events order by at, step`;
  return rows.map(({ at, kind, text, detail, amount, newAmount, currency }) => ({
    at,
    kind,
    text: `${text}${amountsOf(kind, { amount, newAmount, currency })}`,
    detail,
  }));
}

/** Formats the amounts of an event: `, 1,000 JPY`; of a change, `: 1,000 to 800 JPY`, or `, still 1,000 JPY`. */
function amountsOf(kind: EntryEvent['kind'], { amount, newAmount, currency }: EventAmounts): string {
  const before = amount === null ? null : formatMoney(amount, currency);
  if (newAmount === null) return before === null ? '' : `${kind === 'adjusted' ? ': ' : ', '}${before}`;
  const after = formatMoney(newAmount, currency);
  if (before === after) return `, still ${after}`;
  return amount === null ? `: to ${after}` : `: ${formatNumber({ amount, currency })} to ${after}`;
}
