import type { Consent, CustomerHash } from '../../core/customer.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

/** What is stored about a customer of one brand. Nothing in it identifies the customer. */
export type CustomerLife = {
  readonly customerHash: string;
  readonly brandId: string;
  readonly state: 'staged' | 'submitted' | 'refused' | 'unsubscribed';
  /** Why the customer was refused. */
  readonly stateReason: string | null;
  /** Whether the customer waits to be submitted, for the first time or again. */
  readonly isWaiting: boolean;
  readonly consent: Consent;
  /** When the customer said yes, and until when a no is known to hold. Null: never, or without a date. */
  readonly consentedAt: Date | null;
  readonly refusedAt: Date | null;
  readonly source: string;
  readonly firstSeenAt: Date;
  readonly submissions: number;
  readonly submittedAt: Date | null;
  /** The last run that submitted the customer. */
  readonly runId: string | null;
  readonly sourceType: string | null;
  readonly ordersCount: number | null;
  readonly spent: string | null;
  readonly currency: string | null;
  readonly lookup: {
    readonly outcome: 'influencer' | 'no_match' | 'refused';
    readonly platform: string | null;
    readonly username: string | null;
    readonly followers: string | null;
    readonly message: string | null;
    readonly lookedUpAt: Date;
  } | null;
};

/**
 * Reads what is stored about a customer, one row per brand. Empty if no file contained the customer, or not
 * for these brands.
 */
export async function explainCustomer(
  db: Database,
  hashes: readonly CustomerHash[],
): Promise<readonly CustomerLife[]> {
  type Row = Omit<CustomerLife, 'lookup'> & {
    [Key in keyof NonNullable<CustomerLife['lookup']>]: NonNullable<CustomerLife['lookup']>[Key] | null;
  };
  const rows = await rowsOf<Row>(db)`
    select c.customer_hash as "customerHash", c.brand_id as "brandId", c.state,
      c.state_reason as "stateReason",
      c.is_waiting as "isWaiting", c.consent, c.consented_at as "consentedAt",
      nullif(c.refused_at, 'infinity') as "refusedAt", c.source, c.first_seen_at as "firstSeenAt",
      c.submissions, c.submitted_at as "submittedAt", c.run_id as "runId", c.source_type as "sourceType",
      c.orders_count as "ordersCount", c.spent, c.currency,
      l.outcome, l.platform, l.username, l.followers, l.message, l.looked_up_at as "lookedUpAt"
    from intake.customer_states c
    left join intake.lookups l on l.customer_hash = c.customer_hash
    where c.customer_hash = any (${[...hashes]}::uuid[])
    order by c.brand_id`;
  return rows.map(({ outcome, platform, username, followers, message, lookedUpAt, ...life }) => ({
    ...life,
    lookup:
      outcome === null || lookedUpAt === null
        ? null
        : { outcome, platform, username, followers, message, lookedUpAt },
  }));
}
