import { type RawBuilder, sql } from 'kysely';

/*
 * The gate: what must be known and allowed before an order is credited. It is a list of requirements. Each states what
 * is allowed, and an order passes only if that is true: false and unknown (null) both stop it. What a rule names is
 * excluded; everything else that is not allowed is held, until better data or a person settles it.
 *
 * The conditions are SQL about order `o` of `intake.orders`, with its revenue `o.amount`, and about file `f` of
 * `filesToAttribute`, with the statuses of its source.
 */

type Requirement = {
  /** What is allowed. Unknown counts as false. */
  readonly allowed: RawBuilder<unknown>;
  /** What a rule excludes, with the reason. Unknown counts as false. */
  readonly excluded?: readonly (readonly [when: RawBuilder<unknown>, reason: RawBuilder<string>])[];
  /** The reason of orders that are neither allowed nor excluded. */
  readonly held: RawBuilder<string>;
  /** If true, a person may confirm what is not known (`intake.rulings`). */
  readonly canBeConfirmed: boolean;
};

export type GateRules = {
  readonly brandId: string;
  readonly creditsDrafts: boolean;
  readonly creditsRenewals: boolean;
  /** True if the amount of an order depends on its time: the job has a start date, or its deals have terms. */
  readonly needsTime: boolean;
  /** SQL for the time of the order; null if its export states none. */
  readonly orderedAt: RawBuilder<unknown>;
};

/** SQL for the reason, if a rule excludes order `o`, and for the reason, if it must be held. */
export type Gate = {
  readonly exclusion: RawBuilder<string | null>;
  readonly hold: RawBuilder<string | null>;
};

/** The gate of a job. The rules that concern the job's period and seeds come before it (decisions.ts). */
export function gateOf(rules: GateRules): Gate {
  const requirements = requirementsOf(rules);
  const excluded = requirements.flatMap(({ excluded: cases = [] }) => cases);
  return {
    exclusion: sql`case
          when ${isRuledOut} then 'ruled_out'
          ${sql.join(
            excluded.map(([when, reason]) => sql`when ${when} then ${reason}`),
            sql`
          `,
          )}
        end`,
    hold: sql`case
          ${sql.join(
            requirements.map(({ allowed, held, canBeConfirmed }) => {
              const isMet = canBeConfirmed ? sql`(${allowed}) or ${isConfirmed(held)}` : allowed;
              return sql`when (${isMet}) is not true then ${held}`;
            }),
            sql`
          `,
          )}
        end`,
  };
}

function requirementsOf({
  brandId,
  creditsDrafts,
  creditsRenewals,
  needsTime,
  orderedAt,
}: GateRules): readonly Requirement[] {
  const credited = [...(creditsDrafts ? ['draft'] : []), ...(creditsRenewals ? ['renewal'] : [])];
  const isRefunded = sql`coalesce(o.refunded, 0) <> 0`;
  return [
    {
      // A rule of the layout. One that reads a word that it does not know names it `unknown_…`.
      allowed: sql`o.exclusion is null or o.exclusion = any(${credited}::text[])`,
      excluded: [
        [
          sql`o.exclusion = any(${credited}::text[]) is false and o.exclusion not like 'unknown\\_%'`,
          sql`o.exclusion`,
        ],
      ],
      held: sql`coalesce(o.exclusion, 'unknown_exclusion')`,
      canBeConfirmed: true,
    },
    {
      allowed: sql`o.cancelled_at is null`,
      excluded: [[sql`o.cancelled_at is not null`, sql`'cancelled'`]],
      held: sql`'cancelled'`,
      canBeConfirmed: false,
    },
    {
      // The status is null if the file has no column of it. No layout lists the empty one: only a person can count it.
      allowed: sql`f.any_status or coalesce(o.status, '') = any(f.credited) or (o.status is null and f.no_status)`,
      excluded: [
        [
          sql`not f.any_status and coalesce(o.status, '') = any(f.not_credited)`,
          sql`case when coalesce(o.status, '') = '' then 'without_status' else 'status_' || o.status end`,
        ],
      ],
      held: sql`'unknown_status'`,
      canBeConfirmed: true,
    },
    {
      // What reading the files left open: a row that may be missing, two states of unknown age.
      allowed: sql`o.doubt is null`,
      held: sql`o.doubt`,
      canBeConfirmed: true,
    },
    {
      // An export may leave the brand out: then it is that of the job.
      allowed: sql`o.brand_id is null or o.brand_id = ${brandId}`,
      excluded: [
        [sql`o.brand_id is distinct from ${brandId} and o.brand_id is not null`, sql`'other_brand'`],
      ],
      held: sql`'unknown_brand'`,
      canBeConfirmed: false,
    },
    {
      allowed: sql`not ${isRefunded} or (o.refunded > 0 and o.refunded < o.total)`,
      excluded: [[sql`o.refunded > 0 and o.refunded = o.total`, sql`'fully_refunded'`]],
      held: sql`'refund_out_of_range'`,
      canBeConfirmed: false,
    },
    {
      allowed: sql`o.status is null or o.status <> 'partially_refunded' or ${isRefunded}`,
      held: sql`'unknown_refund'`,
      canBeConfirmed: true,
    },
    {
      // A subtotal says nothing if nothing was paid.
      allowed: sql`o.amount > 0 and (o.total is null or o.total > 0)`,
      excluded: [
        [sql`least(o.amount, o.total) < 0`, sql`'negative_revenue'`],
        [sql`least(o.amount, o.total) = 0`, sql`'zero_revenue'`],
      ],
      held: sql`'unknown_amount'`,
      canBeConfirmed: false,
    },
    {
      allowed: needsTime ? sql`${orderedAt} is not null` : sql`true`,
      held: sql`'unknown_time'`,
      canBeConfirmed: true,
    },
  ];
}

/** SQL for the decisions of people about order `o`, as `decision:reason`. Most databases have none, and then nothing is looked up. */
export const rulingsOfOrder = sql`
  case when (select exists (select from intake.rulings where order_id is not null)) then (
    select array_agg(r.decision || ':' || r.reason) from intake.rulings r
    where r.source = o.source and r.order_id = o.order_id and r.withdrawn_at is null
      and (r.content_hash is null or r.content_hash = o.content_hash)) end`;

const isRuledOut = sql`exists (select from unnest(o.rulings) r where r like 'exclude:%')`;

/** SQL that is true if a person has confirmed what holds order `o` for this reason. */
export function isConfirmed(reason: RawBuilder<unknown>, order = 'o'): RawBuilder<unknown> {
  return sql`('credit:' || ${reason}) = any(${sql.ref(`${order}.rulings`)})`;
}
