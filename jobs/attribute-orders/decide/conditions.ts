import { type RawBuilder, sql } from 'kysely';
import type { StatusRules } from '../../../src/core/layout.ts';
import { type DecimalText, isMore, isSameAmount, subtractMoney } from '../../../src/core/money.ts';
import { ORDER_COLUMNS, type StagedOrder } from '../../../src/core/order.ts';
import { latestTimeMs } from '../../../src/core/time/exported-at.ts';
import { latestTime } from '../../../src/intake/files/exported-at.ts';

/*
 * A small vocabulary of conditions over an order. Each term has two readers: Postgres evaluates its SQL, for a run; and
 * `read` evaluates it here, for an order that is in no database, such as in a preview. Both give the same answer, with
 * null for what is not known: `test/jobs/attribute-orders/decide/gate.test.ts` compares them.
 */

/** What terms are about: an order, and which statuses its source credits. */
export type Subject = {
  readonly order: StagedOrder;
  readonly statuses: StatusRules;
  /** By when its file was written, in milliseconds since 1970. */
  readonly exportedAtMs: number;
};

/** A value of an order, or of its source. The SQL is about order `o` of `intake.orders` and file `f` of `filesToAttribute`. */
export type Term<T> = { readonly sql: RawBuilder<unknown>; readonly read: (about: Subject) => T | null };
export type Condition = Term<boolean>;
type Text = Term<string>;
export type Amount = Term<DecimalText>;

type FieldOf<T> = {
  [Field in (typeof ORDER_COLUMNS)[number]['field']]: StagedOrder[Field] extends T | null ? Field : never;
}[(typeof ORDER_COLUMNS)[number]['field']];

/** A column of the order: a text, an amount or a time. */
export function field(name: FieldOf<string>): Text & Amount {
  const column = ORDER_COLUMNS.find((one) => one.field === name)?.column ?? name;
  return { sql: sql.ref(`o.${column}`), read: ({ order }) => order[name] };
}

/** A constant of the program. */
export function constant(text: string): Text {
  return { sql: sql.lit(text), read: () => text };
}

/** A setting of the job. Null if it is not known yet. */
export function setting(text: string | null): Text {
  return { sql: sql`${text}::text`, read: () => text };
}

export const ZERO: Amount = { sql: sql.lit(0), read: () => '0' };

/** Which statuses the source of the order credits (`StatusRules`). */
export const SOURCE = {
  creditsAnyStatus: { sql: sql`f.any_status`, read: ({ statuses }) => statuses.credited === 'any' },
  mayLackStatus: { sql: sql`f.no_status`, read: ({ statuses }) => statuses.mayLackColumn },
  credited: {
    sql: sql`f.credited`,
    read: ({ statuses: { credited } }) => (credited === 'any' ? [] : credited),
  },
  notCredited: { sql: sql`f.not_credited`, read: ({ statuses }) => statuses.notCredited },
} as const satisfies Readonly<Record<string, Term<boolean | readonly string[]>>>;

/** True if a time is not after the export that states it. */
export function isByExport(time: Text): Condition {
  return {
    sql: sql`${time.sql} <= ${latestTime(sql`f.exported_at`)}`,
    read: (about) => {
      const at = time.read(about);
      return at === null ? null : Date.parse(at) <= latestTimeMs(about.exportedAtMs);
    },
  };
}

export function isKnown(term: Term<unknown>): Condition {
  return { sql: sql`(${term.sql}) is not null`, read: (about) => term.read(about) !== null };
}

export function isNull(term: Term<unknown>): Condition {
  return { sql: sql`(${term.sql}) is null`, read: (about) => term.read(about) === null };
}

export function equals(text: Text, other: Text): Condition {
  return both(text, other, '=', (one, two) => one === two);
}

export function isOneOf(text: Text, list: Term<readonly string[]> | readonly string[]): Condition {
  const words: Term<readonly string[]> =
    'read' in list ? list : { sql: sql`${[...list]}::text[]`, read: () => list };
  return {
    sql: sql`${text.sql} = any(${words.sql})`,
    // Nothing is one of none, even if it is not known what it is: so does `= any` of an empty array say.
    read: (about) => {
      const [one, all] = [text.read(about), words.read(about) ?? []];
      return all.length === 0 ? false : one === null ? null : all.includes(one);
    },
  };
}

export function beginsWith(text: Text, start: string): Condition {
  return {
    sql: sql`starts_with(${text.sql}, ${sql.lit(start)})`,
    read: ofBoth(text, constant(start), (one, two) => one.startsWith(two)),
  };
}

export function isAbove(amount: Amount, other: Amount): Condition {
  return both(amount, other, '>', isMore);
}

export function isSame(amount: Amount, other: Amount): Condition {
  return both(amount, other, '=', isSameAmount);
}

/** True, false or unknown, as in SQL: false if one is false, even if another is unknown. */
export function and(...conditions: readonly Condition[]): Condition {
  return joined(conditions, 'and', false);
}

/** True if one is true, even if another is unknown. */
export function or(...conditions: readonly Condition[]): Condition {
  return joined(conditions, 'or', true);
}

export function not(condition: Condition): Condition {
  return {
    sql: sql`not (${condition.sql})`,
    read: (about) => {
      const answer = condition.read(about);
      return answer === null ? null : !answer;
    },
  };
}

/** The first of these terms that is not null. */
export function firstOf<T>(...terms: readonly Term<T>[]): Term<T> {
  return {
    sql: sql`coalesce(${sql.join(terms.map((term) => term.sql))})`,
    read: (about) => {
      for (const term of terms) {
        const value = term.read(about);
        if (value !== null) return value;
      }
      return null;
    },
  };
}

/** A text behind a prefix. */
export function prefixed(prefix: string, text: Text): Text {
  return {
    sql: sql`${sql.lit(prefix)} || ${text.sql}`,
    read: ofBoth(constant(prefix), text, (one, two) => one + two),
  };
}

/** A text up to a mark; the whole text if it does not contain the mark. */
export function upTo(text: Text, mark: string): Text {
  return {
    sql: sql`split_part(${text.sql}, ${sql.lit(mark)}, 1)`,
    read: (about) => text.read(about)?.split(mark, 1)[0] ?? null,
  };
}

/** An amount less a part of it. Null if the other amount is no part: below zero, or more than all. */
export function rest(amount: Amount, part: Amount): Amount {
  const isPart = or(isSame(part, ZERO), and(isAbove(part, ZERO), not(isAbove(part, amount))));
  return {
    sql: sql`case when ${isPart.sql} then ${amount.sql} - ${part.sql} end`,
    read: (about) => (isPart.read(about) === true ? ofBoth(amount, part, subtractMoney)(about) : null),
  };
}

/** SQL and reader of an operator between two terms. Unknown if one of them is. */
function both<T>(
  one: Term<T>,
  two: Term<T>,
  operator: '=' | '>',
  apply: (one: T, two: T) => boolean,
): Condition {
  return { sql: sql`${one.sql} ${sql.raw(operator)} ${two.sql}`, read: ofBoth(one, two, apply) };
}

function ofBoth<One, Two, Result>(
  one: Term<One>,
  two: Term<Two>,
  apply: (one: One, two: Two) => Result,
): Term<Result>['read'] {
  return (about) => {
    const [left, right] = [one.read(about), two.read(about)];
    return left === null || right === null ? null : apply(left, right);
  };
}

/** SQL and reader of `and` or `or`. One condition with the answer `decisive` decides; else one that is unknown does. */
function joined(conditions: readonly Condition[], word: 'and' | 'or', decisive: boolean): Condition {
  return {
    sql: sql`(${sql.join(
      conditions.map((condition) => condition.sql),
      sql` ${sql.raw(word)} `,
    )})`,
    read: (about) => {
      let answer: boolean | null = !decisive;
      for (const condition of conditions) {
        const one = condition.read(about);
        if (one === decisive) return decisive;
        if (one === null) answer = null;
      }
      return answer;
    },
  };
}
