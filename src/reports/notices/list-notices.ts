import { formatAmounts } from '../../core/money.ts';
import type { Amount, NoticeEvent, Problem, Severity } from '../../core/notify/notice.ts';
import type { InstantText } from '../../core/order.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import { type Block, item, say, section } from '../../render/block.ts';
import { clause, plural } from '../../render/text.ts';
import type { Page } from '../wanted-rows.ts';

/** An open problem, as in its last or next notice. */
export type OpenProblem = Problem & { readonly problemId: string };

/**
 * Lists open problems, errors first, then by age. Empty if no notices are configured, because nothing checks
 * for problems then.
 */
export function listOpenProblems(db: Database) {
  return rowsOf<OpenProblem>(db)`
    select problem_id as "problemId", kind, job, severity, since, amounts, summary, command, page
    from ops.problems where resolved_at is null order by severity = 'warning', since, problem_id`;
}

/**
 * Returns when problems of a kind were last observed, by job. A null job is that of problems that concern no
 * single job.
 */
export function lastObservations(db: Database, kind: string) {
  return rowsOf<{ job: string | null; at: Date }>(db)`
    select job, max(observed_at) as at from ops.problems where kind = ${kind} group by job`;
}

export type ListedNotice = {
  readonly noticeId: string;
  readonly createdAt: Date;
  readonly event: NoticeEvent;
  readonly problem: string;
  readonly job: string | null;
  readonly severity: Severity;
  readonly amounts: readonly Amount[];
  readonly summary: string;
  readonly deliveries: readonly {
    readonly channel: string;
    readonly state: 'pending' | 'sent' | 'given_up';
    readonly attempts: number;
    readonly lastError: string | null;
    /** A pending delivery is not sent earlier, for example because of quiet hours or an attempt that failed. */
    readonly notBefore: InstantText;
  }[];
};

/** Lists notices with their deliveries, newest first; their key is `noticeId`. */
export function listNotices(
  db: Database,
  { limit, after = null, problem = null }: Page & { problem?: string | null },
) {
  return rowsOf<ListedNotice>(db)`
    select n.notice_id as "noticeId", n.created_at as "createdAt", n.event,
      n.message ->> 'problem' as problem, n.message ->> 'job' as job,
      n.message ->> 'severity' as severity, n.message -> 'amounts' as amounts,
      n.message ->> 'summary' as summary, coalesce((
        select jsonb_agg(jsonb_build_object('channel', d.channel, 'state', d.state, 'attempts', d.attempts,
            'lastError', d.last_error, 'notBefore', d.not_before)
          order by d.channel)
        from ops.notice_deliveries d where d.notice_id = n.notice_id), '[]') as deliveries
    from ops.notices n
    where (${after}::bigint is null or n.notice_id < ${after}::bigint)
      and (${problem}::text is null or n.message ->> 'problem' = ${problem})
    order by n.notice_id desc limit ${limit}`;
}

/** A channel that does not accept notices. */
export type ChannelTrouble = {
  readonly channel: string;
  /** Deliveries that failed at least once and are retried. */
  readonly failing: number;
  /** Deliveries given up within the last seven days, if none succeeded since. */
  readonly givenUp: number;
  readonly lastError: string;
  /** When the oldest of these deliveries was due. */
  readonly since: Date;
};

/** Lists channels that do not accept notices. A channel that has accepted a later notice works again. */
export function listChannelTroubles(db: Database) {
  return rowsOf<ChannelTrouble>(db)`
    select d.channel, count(*) filter (where d.state = 'pending')::float8 as failing,
      count(*) filter (where d.state = 'given_up')::float8 as "givenUp",
      (array_agg(d.last_error order by d.notice_id desc))[1] as "lastError", min(d.due_at) as since
    from ops.notice_deliveries d
    where ((d.state = 'pending' and d.last_error is not null)
        or (d.state = 'given_up' and d.due_at > clock_timestamp() - interval '7 days'))
      and not exists (
        select from ops.notice_deliveries s
        where s.channel = d.channel and s.state = 'sent' and s.sent_at > d.not_before)
    group by d.channel order by d.channel`;
}

/** Describes notices with their deliveries, newest first. */
export function describeNotices(notices: readonly ListedNotice[]): readonly Block[] {
  if (notices.length === 0) return [say('No notice was sent yet.')];
  return notices.flatMap(({ createdAt, event, problem, job, severity, amounts, summary, deliveries }) => {
    const tone = event === 'resolved' ? 'green' : severity === 'error' ? 'red' : 'yellow';
    const money = amounts.length === 0 ? '' : ` ${formatAmounts(amounts)}.`;
    const fates = deliveries.map(({ channel, state, attempts, lastError, notBefore }) => {
      const why = lastError === null ? '' : ` (${lastError}, ${plural(attempts, 'attempt')})`;
      const when = state === 'pending' ? `, not before ${formatMinute(notBefore)} UTC` : '';
      return `${channel} ${state.replace('_', ' ')}${why}${when}`;
    });
    return section(`${formatMinute(createdAt)}  ${event}`, {
      note: `${problem}${job === null ? '' : ` ${job}`}`,
      tone,
      parts: [item(`${summary}${money}`), item(fates.join(', ') || 'no channel')],
    });
  });
}

/** Describes open problems that `status` shows nowhere else, and channels that do not accept notices. */
export function describeNotified(
  problems: readonly OpenProblem[],
  troubles: readonly ChannelTrouble[],
): readonly Block[] {
  return [
    ...section('Open problems', {
      tone: 'yellow',
      parts: problems.map(({ summary, command, since }) =>
        item(`${summary} Since ${formatMinute(since)} UTC. ${command}`),
      ),
    }),
    ...section('Channels that do not accept notices', {
      tone: 'yellow',
      parts: troubles.map(({ channel, failing, givenUp, lastError, since }) => {
        const counts = [
          ...clause(failing, 'notice waiting', 'notices waiting'),
          ...clause(givenUp, 'given up', 'given up'),
        ];
        return item(
          `${channel}: ${counts.join(', ')} since ${formatMinute(since)} UTC (${lastError}). npx influencer-sync notify test ${channel}`,
        );
      }),
    }),
  ];
}
