import { type RawBuilder, sql } from 'kysely';
import { BELOW_ZERO } from '../../../src/core/held/held-order.ts';
import type { OrderReading, StatusRules } from '../../../src/core/layout.ts';
import type { DecimalText } from '../../../src/core/money.ts';
import type { StagedOrder } from '../../../src/core/order.ts';
import {
  type Amount,
  and,
  beginsWith,
  type Condition,
  constant,
  equals,
  field,
  firstOf,
  isAbove,
  isByExport,
  isKnown,
  isNull,
  isOneOf,
  isSame,
  not,
  or,
  prefixed,
  rest,
  SOURCE,
  type Subject,
  setting,
  type Term,
  upTo,
  ZERO,
} from './conditions.ts';

/*
 * The gate: what must be known and allowed before an order is credited. It is a list of requirements. Each states what
 * is allowed, and an order passes only if that is true: false and unknown (null) both stop it. What a rule names is
 * excluded; everything else that is not allowed is held, until better data or a person settles it.
 *
 * Runs and plans have Postgres evaluate it; previews, which have no database, evaluate it here (conditions.ts).
 */

type Requirement = {
  /** What is allowed. Unknown counts as false. */
  readonly allowed: Condition;
  /** What a rule excludes, with the reason. Unknown counts as false. */
  readonly excluded?: readonly (readonly [when: Condition, reason: Term<string>])[];
  /** The reason of orders that are neither allowed nor excluded. */
  readonly held: Term<string>;
  /** If true, a person may confirm what is not known (`intake.rulings`). */
  readonly canBeConfirmed: boolean;
};

export type GateRules = {
  /** Null: not known yet. Orders that name a brand are then held. */
  readonly brandId: string | null;
  readonly revenue: OrderReading['revenue'];
  readonly creditsDrafts: boolean;
  readonly creditsRenewals: boolean;
  /** True if the amount of an order depends on its time: the job has a start date, or its deals have terms. */
  readonly needsTime: boolean;
};

/** Why an order does not pass the gate. */
export type Stop = { readonly outcome: 'excluded' | 'held'; readonly reason: string };

export type Gate = {
  /** SQL for the reason, if a rule or a person excludes order `o`. */
  readonly exclusion: RawBuilder<string | null>;
  /** SQL for the reason, if order `o` must be held and no person has confirmed what is not known. */
  readonly hold: RawBuilder<string | null>;
  /** Answers the same about an order that no person has decided about; null if it passes. */
  readonly judge: (order: StagedOrder, by: Omit<Subject, 'order'>) => Stop | null;
};

const ORDER = {
  status: field('status'),
  exclusion: field('exclusion'),
  cancelledAt: field('cancelledAt'),
  paidAt: field('paidAt'),
  doubt: field('doubt'),
  brand: field('brandId'),
  total: field('total'),
  refunded: field('refunded'),
};

/** The time at which an order was placed, as far as its export contains it. */
export const ORDERED_AT = firstOf(field('placedAt'), ORDER.paidAt);

/** The amount of an order by the job's rule. */
export const REVENUE: Readonly<Record<GateRules['revenue'], Amount>> = {
  total: ORDER.total,
  subtotal: field('subtotal'),
  total_less_refunds: rest(ORDER.total, firstOf(ORDER.refunded, ZERO)),
};

/** The amount of an order in a preview; null if it is not known. */
export function revenueOf(order: StagedOrder, revenue: GateRules['revenue']): DecimalText | null {
  return REVENUE[revenue].read({ order, statuses: NO_STATUSES, exportedAtMs: 0 });
}

const NO_STATUSES: StatusRules = { credited: [], notCredited: [], mayLackColumn: false };

/**
 * Of two states of unknown age, which one is in force is unknown. So it is held, also if one of them excludes the
 * order, until a newer file states it, or a person confirms the one that was read last.
 */
const CONFLICTING = constant('conflicting_states');
const isConflicting = equals(firstOf(ORDER.doubt, constant('')), CONFLICTING);

/**
 * What is missing of such an order can change its amount, or its refund may be subtracted twice. So the amount excludes
 * nothing, unless a person confirms that the order is complete, and says nothing about what was posted.
 */
export const DOUBTS_OF_PARTS = [
  'incomplete',
  'may_be_incomplete',
  'may_be_cut',
  'may_be_split',
  'refund_in_total',
] as const;
const mayBePart = isOneOf(firstOf(ORDER.doubt, constant('')), DOUBTS_OF_PARTS);
const isWhole: Condition = {
  sql: sql`(not (${mayBePart.sql}) or (${isConfirmed(ORDER.doubt.sql)}) is true)`,
  read: not(mayBePart).read,
};

/** The gate of a job. The rules that concern the job's period and seeds come before it (decisions.ts). */
export function gateOf(rules: GateRules): Gate {
  const requirements = requirementsOf(rules);
  const excluded = requirements.flatMap(({ excluded: cases = [] }) => cases);
  return {
    exclusion: sql`case
          when ${isRuledOut} then 'ruled_out'
          when ${isConflicting.sql} and (${isConfirmed(CONFLICTING.sql)}) is not true then null
          ${sql.join(
            excluded.map(([when, reason]) => sql`when ${when.sql} then ${reason.sql}`),
            sql`
          `,
          )}
        end`,
    hold: sql`case
          ${sql.join(
            requirements.map(({ allowed, held, canBeConfirmed }) => {
              const isMet = canBeConfirmed ? sql`(${allowed.sql}) or ${isConfirmed(held.sql)}` : allowed.sql;
              return sql`when (${isMet}) is not true then ${held.sql}`;
            }),
            sql`
          `,
          )}
        end`,
    judge: (order, by) => {
      const about = { order, ...by };
      const rule = isConflicting.read(about)
        ? undefined
        : excluded.find(([when]) => when.read(about) === true);
      if (rule !== undefined) return { outcome: 'excluded', reason: rule[1].read(about) ?? '' };
      const missed = requirements.find(({ allowed }) => allowed.read(about) !== true);
      return missed === undefined ? null : { outcome: 'held', reason: missed.held.read(about) ?? '' };
    },
  };
}

function requirementsOf({
  brandId,
  revenue,
  creditsDrafts,
  creditsRenewals,
  needsTime,
}: GateRules): readonly Requirement[] {
  const { status, exclusion, cancelledAt, doubt, brand, total, refunded } = ORDER;
  const amount: Amount = { sql: sql`o.amount`, read: REVENUE[revenue].read };
  const isCreditedRule = isOneOf(exclusion, [
    ...(creditsDrafts ? ['draft'] : []),
    ...(creditsRenewals ? ['renewal'] : []),
  ]);
  const statusOrBlank = firstOf(status, constant(''));
  const isNotCredited = isOneOf(statusOrBlank, SOURCE.notCredited);
  const isRefunded = not(isSame(firstOf(refunded, ZERO), ZERO));
  // If more was refunded than paid, the two contradict each other, and what is left says nothing.
  const isNegative =
    revenue === 'total_less_refunds' ? isAbove(ZERO, total) : or(isAbove(ZERO, amount), isAbove(ZERO, total));
  const isOfBrand = equals(brand, setting(brandId));
  // What a refund is called explains it only by a rule of its own: as cancelled, it would still lower no order.
  const lowersNone = and(
    isWhole,
    isNegative,
    or(isNull(exclusion), equals(exclusion, constant('cancelled'))),
    or(isNull(brand), isOfBrand),
  );
  return [
    {
      // A date after the export is wrong, often because day and month were swapped, and other dates then are, too. It
      // comes first, because such a date decides nothing, also if the order is confirmed: what depends on it is asked
      // as `unknown_time`.
      allowed: and(
        or(isNull(ORDERED_AT), isByExport(ORDERED_AT)),
        or(isNull(ORDER.paidAt), isByExport(ORDER.paidAt)),
      ),
      held: constant('after_export'),
      canBeConfirmed: true,
    },
    {
      // It comes before what would exclude the order by the state that was read last: a person confirms that this one is in force.
      allowed: not(isConflicting),
      held: CONFLICTING,
      canBeConfirmed: true,
    },
    {
      // A rule of the layout. One that reads a word that it does not know names both: `unknown_test:Mode=trial`.
      allowed: or(isNull(exclusion), isCreditedRule),
      excluded: [
        [lowersNone, constant(BELOW_ZERO)],
        [and(not(isCreditedRule), not(beginsWith(exclusion, 'unknown_'))), exclusion],
      ],
      held: firstOf(upTo(exclusion, ':'), constant('unknown_exclusion')),
      canBeConfirmed: true,
    },
    {
      allowed: isNull(cancelledAt),
      excluded: [[isKnown(cancelledAt), constant('cancelled')]],
      held: constant('cancelled'),
      canBeConfirmed: false,
    },
    {
      // The status is null if the file has no column of it. No layout lists the empty one: only a person can count it.
      allowed: or(
        SOURCE.creditsAnyStatus,
        isOneOf(statusOrBlank, SOURCE.credited),
        and(isNull(status), SOURCE.mayLackStatus),
      ),
      excluded: [
        [
          and(not(SOURCE.creditsAnyStatus), equals(statusOrBlank, constant('')), isNotCredited),
          constant('without_status'),
        ],
        [and(not(SOURCE.creditsAnyStatus), isNotCredited), prefixed('status_', status)],
      ],
      held: constant('unknown_status'),
      canBeConfirmed: true,
    },
    {
      // What else reading the files left open, for example a row that may be missing.
      allowed: isNull(doubt),
      held: doubt,
      canBeConfirmed: true,
    },
    {
      // An export may leave the brand out: then it is that of the job.
      allowed: or(isNull(brand), isOfBrand),
      excluded: [[not(isOfBrand), constant('other_brand')]],
      held: constant('unknown_brand'),
      canBeConfirmed: false,
    },
    {
      allowed: or(not(isRefunded), and(isAbove(refunded, ZERO), isAbove(total, refunded))),
      excluded: [
        [and(isWhole, isAbove(refunded, ZERO), isSame(refunded, total)), constant('fully_refunded')],
      ],
      held: constant('refund_out_of_range'),
      canBeConfirmed: false,
    },
    {
      allowed: or(isNull(status), not(equals(status, constant('partially_refunded'))), isRefunded),
      held: constant('unknown_refund'),
      canBeConfirmed: true,
    },
    {
      // A subtotal says nothing if nothing was paid, or less: it is one before discounts.
      allowed: and(
        isAbove(amount, ZERO),
        or(isNull(total), and(isAbove(total, ZERO), not(isAbove(amount, total)))),
      ),
      excluded: [
        [and(isWhole, isNegative), constant(BELOW_ZERO)],
        [and(isWhole, or(isSame(amount, ZERO), isSame(total, ZERO))), constant('zero_revenue')],
      ],
      held: constant('unknown_amount'),
      canBeConfirmed: false,
    },
    ...(needsTime
      ? [{ allowed: isByExport(ORDERED_AT), held: constant('unknown_time'), canBeConfirmed: true }]
      : []),
  ];
}

/**
 * SQL for the decisions of people about order `o`, as `decision:reason`. Most databases have none, and then nothing is
 * looked up.
 */
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
