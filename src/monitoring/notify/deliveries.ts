import { sql } from 'kysely';
import type { Notice, NoticeEvent } from '../../core/notify/notice.ts';
import { clockAfter, databaseClock } from '../../db/clock.ts';
import { type Database, rowsOf } from '../../db/statement.ts';

/** A notice that this process must send to a channel, and may settle until its lease expires. */
export type ClaimedDelivery = {
  readonly noticeId: string;
  readonly channel: string;
  /** Number of attempts, including the current one. */
  readonly attempt: number;
  readonly dueAt: Date;
  readonly notice: Omit<Notice, 'link'> & { readonly page: string };
};

/** Limits one attempt. HTTP has a shorter limit of its own. */
export const ATTEMPT_WITHIN_MS = 20_000;
/**
 * Three times the limit of an attempt, which ends whatever the channel does: no other process sends a notice that
 * is still under way. Short enough that a dead process does not delay a notice for long.
 */
const LEASE_MS = 3 * ATTEMPT_WITHIN_MS;

/**
 * Claims due deliveries of a channel, oldest first, until the lease expires. No other process gets them in the
 * meantime. The due notices of a problem reach a channel in the order of events: a later notice waits for the
 * previous one, unless that one waits for the end of the quiet hours.
 */
export async function claimDeliveries(
  db: Database,
  { channel, limit }: { channel: string; limit: number },
): Promise<readonly ClaimedDelivery[]> {
  const rows = await rowsOf<Row>(db)`
    update ops.notice_deliveries d
    set attempts = d.attempts + 1, leased_until = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
    from (
      select c.notice_id, c.channel, n.problem_id, n.event, n.message, n.created_at
      from ops.notice_deliveries c join ops.notices n using (notice_id)
      where c.state = 'pending' and c.not_before <= clock_timestamp()
        and coalesce(c.leased_until <= clock_timestamp(), true)
        and c.channel = ${channel}
        and not exists (
          select from ops.notice_deliveries b join ops.notices m on m.notice_id = b.notice_id
          where b.state = 'pending' and b.channel = c.channel and b.notice_id < c.notice_id
            and m.problem_id = n.problem_id
            and b.due_at <= clock_timestamp())
      order by c.notice_id limit ${limit}
      for update of c skip locked
    ) n
    where d.notice_id = n.notice_id and d.channel = n.channel and d.state = 'pending'
    returning d.notice_id as "noticeId", d.channel, d.attempts as attempt, d.due_at as "dueAt",
      n.problem_id as "problemId", n.event,
      n.message, n.created_at as "createdAt"`;
  return rows
    .toSorted((one, other) => Number(one.noticeId) - Number(other.noticeId))
    .map(({ noticeId, channel, attempt, dueAt, problemId, event, message, createdAt }) => ({
      noticeId,
      channel,
      attempt,
      dueAt,
      notice: {
        id: `notice-${noticeId}`,
        problemId: problemId === null ? `digest-${noticeId}` : `problem-${problemId}`,
        event,
        ...message,
        since: new Date(message.since ?? createdAt).toISOString(),
      },
    }));
}

type Row = Pick<ClaimedDelivery, 'noticeId' | 'channel' | 'attempt' | 'dueAt'> & {
  readonly problemId: string | null;
  readonly event: NoticeEvent;
  readonly message: Omit<ClaimedDelivery['notice'], 'id' | 'problemId' | 'event' | 'since'> & {
    readonly since: string | null;
  };
  readonly createdAt: Date;
};

type Settled = Pick<ClaimedDelivery, 'noticeId' | 'channel' | 'attempt'>;

/** Marks a delivery as sent. Has no effect if another process has claimed it since. */
export async function settleSent(db: Database, claimed: Settled): Promise<void> {
  const sent = { state: 'sent', sent_at: databaseClock, last_error: null } as const;
  await updateClaimed(db, claimed).set(sent).execute();
}

/**
 * Records a failed attempt. The delivery is tried again at `next`, or given up if `next` is null. Has no
 * effect if another process has claimed it since.
 */
export async function settleFailed(
  db: Database,
  claimed: Settled,
  { reason, next }: { reason: string; next: Date | null },
): Promise<void> {
  const after = next === null ? ({ state: 'given_up' } as const) : { not_before: next };
  await updateClaimed(db, claimed)
    .set({ ...after, last_error: reason })
    .execute();
}

/** Ends the lease of a delivery while it belongs to this process. */
function updateClaimed(db: Database, { noticeId, channel, attempt }: Settled) {
  const still = { notice_id: noticeId, channel, attempts: attempt, state: 'pending' } as const;
  return db
    .updateTable('ops.notice_deliveries')
    .set({ leased_until: null })
    .where((eb) => eb.and(still));
}

/** Gives up deliveries that were not sent in time, including those to channels that are no longer configured. */
export async function giveUpOld(db: Database): Promise<void> {
  const last_error = sql<string>`coalesce(last_error, 'no process sent it in time')`;
  await db
    .updateTable('ops.notice_deliveries')
    .set({ state: 'given_up', leased_until: null, last_error })
    .where('state', '=', 'pending')
    .where('due_at', '<', clockAfter(-GIVE_UP_AFTER_MS))
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', databaseClock)]))
    .execute();
}

/** Wait after the first failed attempt. Doubles each time. */
const FIRST_WAIT_MS = 10_000;
/** A channel that was down for an hour is tried again within an hour. */
const LONGEST_WAIT_MS = 3_600_000;
/** After a day, a notice is outdated. The problem is still in the history, in `status` and in the next reminder. */
export const GIVE_UP_AFTER_MS = 86_400_000;

/**
 * Computes when a failed delivery is tried again. A pure function. p-retry cannot do this: a delivery waits in
 * the database, for longer than this process may live, and any process tries it again.
 *
 * @param options.attempt number of attempts so far; 1 after the first.
 * @param options.dueAt when it was due.
 * @param options.retryAfterMs wait that the channel asked for. Null if it did not. However long it is, the delivery
 * is tried once more before it is given up.
 * @returns null if the delivery is given up.
 */
export function nextAttempt(options: {
  readonly attempt: number;
  readonly dueAt: Date;
  readonly now: Date;
  readonly retryAfterMs: number | null;
}): Date | null {
  const { attempt, dueAt, now, retryAfterMs } = options;
  const ownMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 20));
  const own = now.getTime() + ownMs;
  const givenUp = dueAt.getTime() + GIVE_UP_AFTER_MS;
  const asked = Math.min(now.getTime() + (retryAfterMs ?? 0), givenUp - LONGEST_WAIT_MS);
  return own > givenUp ? null : new Date(Math.max(own, asked));
}
