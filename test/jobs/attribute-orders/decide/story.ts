import { sql } from 'kysely';
import {
  type AttributeOrdersOptions,
  decideOrders,
} from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import type { CreditedSource } from '../../../../jobs/attribute-orders/decide/decisions.ts';
import { prepareEntries } from '../../../../jobs/attribute-orders/decide/prepare-entries.ts';
import { loadCodes } from '../../../../src/codes/load-codes.ts';
import type { StagedOrder } from '../../../../src/core/order.ts';
import type { Database } from '../../../../src/db/connect.ts';
import { holdCreditedElsewhere } from '../../../../src/ledger/evidence/hold-credited-elsewhere.ts';
import { openShop, type Shop } from '../../../intake/story.ts';

export const ACCOUNT = 'A1';
export const BRAND = '4819';

export type Context = Shop & {
  readonly job: string;
  /** Writes codes.csv, loads it, and attributes the orders with it. */
  attribute(given?: AttributeGiven): Promise<number>;
  /** Prepares the entries as a run does before it posts. */
  prepare(given?: { readonly brandId: string }): Promise<Prepared>;
};
export type AttributeGiven = Partial<
  Pick<
    AttributeOrdersOptions,
    | 'revenue'
    | 'brandId'
    | 'creditsDrafts'
    | 'creditsRenewals'
    | 'attribution'
    | 'start'
    | 'hasTerms'
    | 'isBrandShared'
    | 'elsewhere'
  >
> &
  Partial<Pick<CreditedSource, 'credited' | 'notCredited' | 'mayLackColumn'>> & {
    readonly codes?: string;
    /** Sources with own_orders. */
    readonly ownOrders?: readonly string[];
  };

export const HEADER = 'code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to';

/** Opens a job with one source and a way to write its codes. `writeCodes` writes the text to `path`. */
export async function openContext(
  db: Database,
  options: {
    readonly path: string;
    readonly writeCodes: (text: string) => void;
    readonly shops?: readonly Shop[];
    /** `order_platform` of the sources, in their order; the last one is that of all others. */
    readonly platforms?: readonly string[];
    /** Tests that share a database need brands of their own, or their orders look like the same ones. */
    readonly brandId?: string;
    /** By default named like its first source. */
    readonly job?: string;
  },
): Promise<Context> {
  const shop = options.shops?.[0] ?? (await openShop(db));
  const job = options.job ?? shop.source;
  const sources = (options.shops ?? [shop]).map(({ source }) => source);
  const platforms = options.platforms ?? [`platform of ${job}`];
  const orderPlatformBySource = Object.fromEntries(
    sources.map((source, place) => [source, platforms[place] ?? platforms.at(-1) ?? '']),
  );
  let codes = '';
  return {
    ...shop,
    job,
    async attribute(given = {}) {
      codes = given.codes ?? codes;
      options.writeCodes(`${HEADER}\n${codes}`);
      const brandId = given.brandId ?? options.brandId ?? BRAND;
      const { hash } = await loadCodes(db, {
        job,
        path: options.path,
        timeZone: null,
        brandId,
        linkParameters: ['ref', 'utm_campaign'],
      });
      const { decided } = await decideOrders(db, {
        job,
        sources: sources.map((source) => ({
          source,
          orderPlatform: orderPlatformBySource[source] ?? '',
          credited: given.credited ?? 'any',
          notCredited: given.notCredited ?? [],
          mayLackColumn: given.mayLackColumn ?? false,
          ownOrders: given.ownOrders?.includes(source) ?? false,
        })),
        elsewhere: given.elsewhere ?? [],
        hasTerms: given.hasTerms ?? false,
        isBrandShared: given.isBrandShared ?? sources.length > 1,
        brandId,
        revenue: given.revenue ?? 'total',
        creditsDrafts: given.creditsDrafts ?? false,
        creditsRenewals: given.creditsRenewals ?? true,
        attribution: given.attribution ?? 'code',
        start: given.start ?? null,
        codesHash: hash,
      });
      return decided;
    },
    async prepare(given) {
      const before = await snapshot(db, job);
      await prepareEntries(db, {
        job,
        runId: shop.runId,
        accountId: ACCOUNT,
        brandId: given?.brandId ?? options.brandId ?? BRAND,
        orderPlatformBySource,
        orderNotes: 'ours',
      });
      const prepared = difference(before, await snapshot(db, job));
      return { ...prepared, evident: await holdCreditedElsewhere(db, { job, accountId: ACCOUNT }) };
    },
  };
}

/** What a preparation changed in the database. */
export type Prepared = {
  readonly created: number;
  /** Entries that got another body, and held ones that are to be sent again. */
  readonly replaced: number;
  /** Entries to be sent that are held now. */
  readonly withdrawn: number;
  readonly adjustments: number;
  /** Orders for which another source or job is responsible. */
  readonly elsewhere: number;
  readonly evident: number;
};

type Snapshot = {
  readonly entries: ReadonlyMap<string, { readonly state: string; readonly body: string }>;
  readonly adjustments: number;
  readonly elsewhere: number;
};

/** Reads all entries, and counts the adjustments of a job and its orders that are known from elsewhere. */
async function snapshot(db: Database, job: string): Promise<Snapshot> {
  const { rows } = await sql<{ adjustments: number; elsewhere: number }>`
    select
      (select count(*) from ledger.adjustments join ledger.entries e using (entry_id) where e.job = ${job})::integer as adjustments,
      (select count(*) from intake.attributions a
        where a.job = ${job} and a.reason in ('known_from_another_source', 'known_from_another_job'))::integer as elsewhere`.execute(
    db,
  );
  // Entries of other jobs, too: the job may take them over.
  const { rows: known } = await sql<Pick<Entry, 'entry_id' | 'state' | 'body'>>`
    select entry_id, state, body from ledger.entries`.execute(db);
  return {
    entries: new Map(known.map(({ entry_id, state, body }) => [entry_id, { state, body }])),
    adjustments: rows[0]?.adjustments ?? 0,
    elsewhere: rows[0]?.elsewhere ?? 0,
  };
}

function difference(before: Snapshot, after: Snapshot): Omit<Prepared, 'evident'> {
  const counts = { created: 0, replaced: 0, withdrawn: 0 };
  for (const [id, { state, body }] of after.entries) {
    const was = before.entries.get(id);
    if (was === undefined) counts.created += 1;
    else if (was.state === 'ready' && state !== 'ready') counts.withdrawn += 1;
    else if (was.body !== body || (was.state !== 'ready' && state === 'ready')) counts.replaced += 1;
  }
  return { ...counts, adjustments: after.adjustments - before.adjustments, elsewhere: after.elsewhere };
}

/** Returns the decisions about a source's orders: `id: outcome reason by value → target`. */
export async function decisions({
  db,
  job,
  source,
}: Pick<Context, 'db' | 'job' | 'source'>): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select order_id || ': ' || concat_ws(' ', outcome, reason, matched_by, matched_value, '→ ' || target) as said
    from intake.attributions where job = ${job} and source = ${source} order by order_id`.execute(db);
  return rows.map(({ said }) => said);
}

export type Entry = {
  entry_id: string;
  order_id: string;
  state: string;
  state_reason: string | null;
  body: string;
  amount: string;
  attempt: number;
  not_sent: number;
};

export async function entries({ db, job }: Pick<Context, 'db' | 'job'>): Promise<Entry[]> {
  const { rows } = await sql<Entry>`
    select entry_id, order_id, state, state_reason, body, amount, attempt, not_sent from ledger.entries
    where job = ${job} order by entry_id`.execute(db);
  return rows;
}

/** Returns the adjustments as `order id: kind old → new`, in the order in which they were recorded. */
export async function adjustments({ db, job }: Pick<Context, 'db' | 'job'>): Promise<string[]> {
  const { rows } = await sql<{ said: string }>`
    select e.order_id || ': ' || d.kind || ' ' || trim_scale(d.old_amount) || ' → ' || coalesce(trim_scale(d.new_amount)::text, '-') as said
    from ledger.adjustments d join ledger.entries e using (entry_id) where e.job = ${job} order by d.adjustment_id`.execute(
    db,
  );
  return rows.map(({ said }) => said);
}

const STATES: Record<string, string> = {
  accepted: `state = 'accepted', attempt = 1, deal_id = 'D1'`,
  sending: `state = 'sending', attempt = 1, owner = gen_random_uuid()`,
  in_doubt: `state = 'in_doubt', attempt = 1, doubtful_attempt = 1, state_reason = 'timeout'`,
  written_off: `state = 'written_off', attempt = 1, doubtful_attempt = 1, state_reason = 'let go'`,
  rejected: `state = 'rejected', attempt = 1, state_reason = 'no such deal'`,
  'throttled once': `state = 'ready', attempt = 1, not_sent = 1`,
  'claimed before, with no word of what came of it': `state = 'ready', attempt = 1`,
  'approved for a re-send': `state = 'ready', attempt = 1, doubtful_attempt = 1, resends_approved = 1`,
};

/** Puts all entries of the job, or that of one order, into a state, as if they had been sent. */
export async function bring(
  { db, job }: Pick<Context, 'db' | 'job'>,
  state: keyof typeof STATES,
  orderId: string | null = null,
): Promise<void> {
  await sql`
    update ledger.entries set ${sql.raw(STATES[state] ?? '')}
    where job = ${job} and (${orderId}::text is null or order_id = ${orderId})`.execute(db);
}

export type Given = Partial<StagedOrder>;
