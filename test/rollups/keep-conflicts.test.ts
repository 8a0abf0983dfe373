import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { refreshReporting } from '../../src/rollups/refresh-reporting.ts';
import { JOB, SOURCE, seedRuns } from '../reports/seed.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';

/** An owner of a claim: a deal whose creator the mirror may know, a deal given by its address, or a handle. */
const OWNERS = [
  { target: 'deal:D1', deal_id: 'D1', influencer_handle: null },
  { target: 'deal:D2', deal_id: 'https://service.test/deal/D2?x=1', influencer_handle: null },
  { target: 'deal:D3', deal_id: 'D3', influencer_handle: '@Mara' },
  { target: 'deal:UNKNOWN', deal_id: 'UNKNOWN', influencer_handle: null },
  { target: 'handle:mara', deal_id: null, influencer_handle: 'mara' },
] as const;
const CREATORS: Readonly<Record<string, string>> = { D1: 'mara', D2: 'Jonas' };

type Claim = { readonly place: number; readonly kind: 'explicit' | 'link' | 'code'; readonly owner: number };

/** Claims as attribution stores them: names of the export, then links, then codes, where some have two owners. */
const claimsOfOrder = fc
  .tuple(
    fc.option(fc.nat(OWNERS.length - 1)),
    fc.array(fc.uniqueArray(fc.nat(OWNERS.length - 1), { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
    fc.array(fc.uniqueArray(fc.nat(OWNERS.length - 1), { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
  )
  .map(([explicit, links, codes]): readonly Claim[] => [
    ...(explicit === null ? [] : [{ place: 0, kind: 'explicit' as const, owner: explicit }]),
    ...[...links, ...codes].flatMap((owners, index) =>
      owners.map((owner) => ({
        place: index + 1,
        kind: index < links.length ? ('link' as const) : ('code' as const),
        owner,
      })),
    ),
  ])
  // Only orders with several owners have claims.
  .map((claims) => (new Set(claims.map(({ owner }) => owner)).size > 1 ? claims : []));

/** What happens between two refreshes: new decisions about some orders, or an entry that is settled. */
const change = fc.record({
  orderId: fc.constantFrom('1001', '1003', '1005', '1007', '1009', '1010', '1011', '1012', '9002'),
  claims: claimsOfOrder,
  outcome: fc.constantFrom('held', 'attributed', 'unattributed', 'excluded'),
  state: fc.constantFrom('accepted', 'ready', null),
  amount: fc.integer({ min: 1, max: 99 }),
  day: fc.integer({ min: 1, max: 28 }),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

async function apply(db: Database, { orderId, claims, outcome, state, amount, day }: Change): Promise<void> {
  await sql`delete from intake.order_claims where order_id = ${orderId}`.execute(db);
  for (const { place, kind, owner } of claims) {
    const { target, deal_id, influencer_handle } = OWNERS[owner] ?? OWNERS[0];
    await sql`
      insert into intake.order_claims (job, source, order_id, place, kind, written, target, influencer_handle, deal_id)
      values (${JOB}, ${SOURCE}, ${orderId}, ${place}, ${kind}, ${`W${place} m@a.test`}, ${target}, ${influencer_handle}, ${deal_id})`.execute(
      db,
    );
  }
  await sql`
    update intake.attributions set outcome = ${outcome}, amount = ${amount}, target = case when ${outcome} = 'attributed' then 'mara.paints' end,
      reason = case when ${outcome} = 'attributed' then null else 'reason' end,
      matched_by = case when ${outcome} = 'attributed' then 'code' end, decided_at = now()
    where order_id = ${orderId}`.execute(db);
  await sql`update intake.orders set placed_at = make_timestamptz(2026, 3, ${day}, 10, 0, 0, 'UTC') where order_id = ${orderId}`.execute(
    db,
  );
  if (state !== null)
    await sql`
      update ledger.entries set state = ${state}, deal_id = case when ${state} = 'accepted' then 'D1' end, attempt = 0, doubtful_attempt = null,
        state_reason = null, owner = null
      where order_id = ${orderId} and state in ('ready', 'held') and ${state} <> state`.execute(db);
}

type StoredClaim = {
  readonly orderId: string;
  readonly place: number;
  readonly kind: Claim['kind'];
  readonly written: string;
  readonly target: string;
  readonly dealId: string | null;
  readonly handle: string | null;
};

/** The rows that `bi.conflicts` must have, from all claims and dispositions. */
async function expectedConflicts(db: Database): Promise<readonly unknown[]> {
  const { rows: claims } = await sql<StoredClaim>`
    select order_id as "orderId", place, kind, written, target, deal_id as "dealId", influencer_handle as handle
    from intake.order_claims order by place, target`.execute(db);
  const { rows: orders } = await sql<{
    order_id: string;
    disposition: string;
    target: string | null;
    influencer_handle: string | null;
    deal_id: string | null;
  }>`
    select order_id, day_utc::text, ordered_at::text, currency, amount, disposition, disposition_reason, matched_by, target, influencer_handle, deal_id
    from reporting.order_dispositions order by order_id`.execute(db);
  const creatorOf = (dealId: string | null, handle: string | null) =>
    handle ?? CREATORS[dealId?.replace(/^.*\/deal\/([^/?]+).*$/, '$1') ?? ''] ?? null;
  return orders.flatMap(({ deal_id, influencer_handle, ...order }) => {
    const own = claims.filter(({ orderId }) => orderId === order.order_id);
    const isKept = ['accepted', 'ready', 'rejected', 'in_doubt', 'held'].includes(order.disposition);
    if (own.length === 0 || !isKept) return [];
    const [explicit] = own.filter(({ place }) => place === 0);
    const found = own.filter(({ place }) => place > 0);
    const at = (place: number | undefined) => {
      const standing = found.filter((claim) => claim.place === place);
      return standing.length === 1 ? standing[0] : undefined;
    };
    const kinds = new Set(own.map(({ kind }) => kind));
    const handles = own.map(({ dealId, handle }) =>
      creatorOf(dealId, handle)?.replace(/^@/, '').toLowerCase(),
    );
    const winner = (rule: string, claim: StoredClaim | undefined) => ({
      [`${rule}_target`]: claim?.target ?? null,
      [`${rule}_influencer_handle`]: claim === undefined ? null : creatorOf(claim.dealId, claim.handle),
    });
    return [
      {
        ...order,
        influencer_handle: creatorOf(deal_id, influencer_handle),
        conflict: kinds.has('explicit')
          ? 'named'
          : kinds.size === 2
            ? 'link_and_code'
            : kinds.has('code')
              ? 'codes'
              : 'links',
        evidence: own
          .map(({ kind, written }) => `${kind} ${written.replace('m@a.test', 'm***@***')}`)
          .join(', '),
        is_same_creator: handles.includes(undefined) ? null : new Set(handles).size === 1,
        ...winner('first', at(found[0]?.place)),
        ...winner('last', at(found.at(-1)?.place)),
        ...winner('explicit', explicit),
      },
    ];
  });
}

async function shownConflicts(db: Database): Promise<readonly unknown[]> {
  const { rows } = await sql`
    select order_id, day_utc::text, ordered_at::text, currency, amount, disposition, disposition_reason, matched_by, target, influencer_handle,
      conflict, evidence, is_same_creator, first_target, first_influencer_handle, last_target, last_influencer_handle, explicit_target,
      explicit_influencer_handle
    from bi.conflicts order by order_id`.execute(db);
  return rows;
}

async function openSeeded(): Promise<Database> {
  const { db } = await setup();
  const { runId } = await seedRuns(db);
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
    select key, value, '{}', key, now(), true, now(), ${runId}::bigint from jsonb_each_text(${JSON.stringify(CREATORS)}::jsonb)`.execute(
    db,
  );
  return db;
}

describe('the conflicts of orders', () => {
  test('equal those of all claims and dispositions after each refresh, whatever has changed', async () => {
    const db = await openSeeded();
    let conflicts = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(2, 20_000),
        async (changes, stepOrders) => {
          for (const one of changes) await apply(db, one);
          await sql`update intake.attributed_files set attributed_at = clock_timestamp()`.execute(db);
          await refreshReporting(db, { job: JOB, stepOrders });
          const shown = await shownConflicts(db);
          expect(shown).toEqual(await expectedConflicts(db));
          conflicts += shown.length;
        },
      ),
      { numRuns: propertyRuns(25), endOnFailure: true },
    );
    expect(conflicts).toBeGreaterThan(25);
  });

  test('are read again after an older version has refreshed the reports', async () => {
    const db = await openSeeded();
    const given = { orderId: '1011', outcome: 'held', state: null, amount: 5, day: 3 } as const;
    const claims = [1, 2].map((place) => ({ place, kind: 'code' as const, owner: place }));
    await apply(db, { ...given, claims });
    await refreshReporting(db, { job: JOB });
    expect(await shownConflicts(db)).toHaveLength(1);
    await sql`delete from reporting.conflicts`.execute(db);
    await sql`update reporting.refresh set refreshed_at = now()`.execute(db);
    await refreshReporting(db, { job: JOB });
    expect(await shownConflicts(db)).toEqual(await expectedConflicts(db));
    expect(await shownConflicts(db)).toHaveLength(1);
  });

  test('that have not changed are not written again', async () => {
    const db = await openSeeded();
    const given = { orderId: '1003', outcome: 'attributed', state: null, amount: 5, day: 3 } as const;
    const claims = [1, 2].map((place) => ({ place, kind: 'code' as const, owner: place }));
    await apply(db, { ...given, claims });
    await refreshReporting(db, { job: JOB });
    const written = () => sql`select order_id, xmin::text from reporting.conflicts`.execute(db);
    const before = (await written()).rows;
    expect(before).toHaveLength(1);
    await refreshReporting(db, { job: JOB });
    expect((await written()).rows).toEqual(before);
  });
});
