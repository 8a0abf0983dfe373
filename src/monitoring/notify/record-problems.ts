import { type RawBuilder, sql } from 'kysely';
import type { NotifySettings } from '../../config/notify-fields.ts';
import type { Problem, ProblemKind } from '../../core/notify/notice.ts';
import { countOf, type Database, execute, toJsonParameter } from '../../db/statement.ts';
import { listOpenProblems, type OpenProblem } from '../../reports/notices/list-notices.ts';
import type { Observation } from './observe-problems.ts';
import { finderOf, titleOf } from './problems/index.ts';
import { channelsOf, dueAt } from './send-notices.ts';

/*
 * The life of a problem: opened, reminded any number of times, resolved. Each change is one statement that
 * updates the problem only if it is still in the expected state, writes the notice, and adds one delivery for
 * each channel to the outbox. If several processes observe the same problem at the same time, one of them
 * makes the change, and the statements of the others have no effect.
 *
 * An observation takes a while, and another one may be made and applied in the meantime. So each observation
 * carries its start time, and has no effect on a problem to which a newer one was applied.
 *
 * A problem may come and go. The first time it disappears, this is reported at once. If it returns within
 * HOLD_DOWN, its return is reported, and from then on it must stay away for HOLD_DOWN before it counts as
 * resolved. So no notice says that all is well while it is not, and a problem that flaps for hours causes
 * four messages instead of hundreds.
 */
const HOLD_DOWN = '30 minutes';

/**
 * Applies an observation: opens, reminds and resolves problems, and adds the notices to the outbox.
 *
 * @returns the number of notices created.
 */
export async function recordProblems(
  db: Database,
  observation: Observation,
  settings: NotifySettings,
): Promise<number> {
  const open = await listOpenProblems(db);
  const { problems, determined, at, jobs } = observation;
  const isOpen = (problem: Problem): boolean => open.some((one) => isSame(one, problem));
  const fresh = problems.filter((problem) => !isOpen(problem));
  const lasting = problems.filter(isOpen);
  const gone = open.filter(
    (one) => determined.includes(one.kind) && !problems.some((problem) => isSame(one, problem)),
  );
  let notices = 0;
  if (fresh.length > 0) notices += await openProblems(db, toRecords(fresh, at, settings), at);
  if (lasting.length > 0)
    notices += await keepProblems(db, toRecords(lasting, at, settings), {
      at,
      remindAfterMs: settings.remindAfterMs,
    });
  if (gone.length > 0) notices += await resolveProblems(db, gone, { at, jobs, settings });
  return notices;
}

function isSame(
  one: Pick<Problem, 'kind' | 'job'>,
  other: { readonly kind: ProblemKind; readonly job: string | null },
): boolean {
  return one.kind === other.kind && one.job === other.job;
}

/** A problem in the form that the statements below expect (`seenIn`). */
function toRecords(problems: readonly Problem[], at: Date, settings: NotifySettings) {
  return problems.map((problem) => ({
    ...problem,
    title: titleOf(problem.kind),
    channels: channelsOf(problem, settings),
    due_at: dueAt(problem, at, settings),
  }));
}

type Records = ReturnType<typeof toRecords>;

const seenIn = (records: Records): RawBuilder<unknown> => sql`
  seen as (
    select * from jsonb_to_recordset(${toJsonParameter(records)}::jsonb) as s(
      kind text, job text, severity text, since timestamptz, amounts jsonb, summary text, command text,
      page text, title text, channels jsonb, due_at timestamptz)
  )`;

/** SQL: the message of a notice about problem `p`. */
const messageOf = (title: RawBuilder<unknown>, summary: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  jsonb_build_object('problem', p.kind, 'title', ${title}, 'job', p.job, 'severity', p.severity, 'since',
    p.since, 'amounts', p.amounts,
    'summary', ${summary}, 'command', p.command, 'page', p.page)`;

/**
 * SQL: one delivery of each notice in `told` for each channel of its problem, which `seen` lists by `kind` and `job`.
 */
const DELIVER = sql`
  insert into ops.notice_deliveries (notice_id, channel, due_at, not_before)
  select t.notice_id, c.channel, s.due_at, s.due_at
  from told t join changed p using (problem_id)
    join seen s on s.kind = p.kind and s.job is not distinct from p.job
  cross join lateral jsonb_array_elements_text(s.channels) as c(channel)`;

/** Opens problems that are not open and to which no newer observation was applied. */
async function openProblems(db: Database, records: Records, at: Date): Promise<number> {
  return countOf(db)`
    with ${seenIn(records)}, changed as (
      insert into ops.problems (kind, job, severity, since, observed_at, told_severity, came_back, amounts,
        summary, command, page)
      select s.kind, s.job, s.severity, s.since, ${at}, s.severity,
        exists (select from ops.problems b where b.kind = s.kind and coalesce(b.job, '') = coalesce(s.job, '')
          and b.resolved_at > clock_timestamp() - ${HOLD_DOWN}::interval),
        s.amounts, s.summary, s.command, s.page
      from seen s
      where not exists (select from ops.problems b
        where b.kind = s.kind and coalesce(b.job, '') = coalesce(s.job, '')
        and (b.resolved_at is null or b.observed_at >= ${at}))
      on conflict (kind, coalesce(job, '')) where resolved_at is null do nothing
      returning *
    ), told as (
      insert into ops.notices (problem_id, event, message)
      select p.problem_id, 'opened', ${messageOf(sql`s.title`, sql`p.summary`)}
      from changed p join seen s on s.kind = p.kind and s.job is not distinct from p.job
      returning notice_id, problem_id
    ), delivered as (${DELIVER})
    select count(*) as notices from told`;
}

/**
 * Updates open problems. Sends a reminder for those whose last notice is too old or that have become errors. What
 * waits for the end of the quiet hours is then sent before it, because a warning must not follow its error.
 */
async function keepProblems(
  db: Database,
  records: Records,
  { at, remindAfterMs }: { at: Date; remindAfterMs: number | null },
): Promise<number> {
  await execute(db)`
    with ${seenIn(records)}
    update ops.problems p
    set observed_at = ${at}, absent_since = null, severity = s.severity, amounts = s.amounts,
      summary = s.summary, command = s.command, page = s.page
    from seen s
    where s.kind = p.kind and s.job is not distinct from p.job and p.resolved_at is null
      and p.observed_at < ${at}`;
  return countOf(db)`
    with ${seenIn(records)}, changed as (
      update ops.problems p
      set state = 'reminded', reminders = p.reminders + 1, told_at = clock_timestamp(),
        told_severity = p.severity
      from seen s
      where s.kind = p.kind and s.job is not distinct from p.job and p.resolved_at is null
        and (p.told_at <= clock_timestamp() - ${remindAfterMs}::float8 * interval '1 millisecond'
          or (p.severity = 'error' and p.told_severity = 'warning'))
      returning p.*
    ), told as (
      insert into ops.notices (problem_id, event, reminder, message)
      select p.problem_id, 'reminded', p.reminders, ${messageOf(sql`s.title`, sql`p.summary`)}
      from changed p join seen s on s.kind = p.kind and s.job is not distinct from p.job
      returning notice_id, problem_id
    ), delivered as (${DELIVER}), hastened as (
      update ops.notice_deliveries d set due_at = s.due_at, not_before = s.due_at
      from ops.notices n join changed p using (problem_id)
        join seen s on s.kind = p.kind and s.job is not distinct from p.job
      where d.notice_id = n.notice_id and d.state = 'pending' and d.due_at > s.due_at
    )
    select count(*) as notices from told`;
}

/**
 * A problem of a job that this configuration lacks is left to processes that have the job, unless none of
 * them has observed it for this time.
 */
const FORGET_JOB_AFTER = '1 day';

/**
 * Resolves problems that are gone. Notifies the channels that received earlier notices of them; during quiet
 * hours, once these are over.
 */
async function resolveProblems(
  db: Database,
  gone: readonly OpenProblem[],
  { at, jobs, settings }: { at: Date; jobs: readonly string[]; settings: NotifySettings },
): Promise<number> {
  const records = gone.map((problem) => {
    const { problemId, kind, job } = problem;
    const isKnown = job === null || jobs.includes(job);
    const over = finderOf(kind)?.over(job) ?? 'It is over.';
    return {
      problem_id: problemId,
      title: titleOf(kind),
      summary: isKnown ? over : `${job} is no longer in the configuration.`,
      due_at: dueAt(problem, at, settings),
      is_known: isKnown,
    };
  });
  return countOf(db)`
    with gone as (
      select * from jsonb_to_recordset(${toJsonParameter(records)}::jsonb) as g(
        problem_id bigint, title text, summary text, due_at timestamptz, is_known boolean)
    ), changed as (
      update ops.problems p
      set observed_at = ${at}, absent_since = coalesce(p.absent_since, ${at}),
        state = case when ${STAYED_AWAY(at)} then 'resolved' else p.state end,
        resolved_at = case when ${STAYED_AWAY(at)} then clock_timestamp() end
      from gone g
      where p.problem_id = g.problem_id and p.resolved_at is null and p.observed_at < ${at}
        and (g.is_known or p.observed_at < ${at}::timestamptz - ${FORGET_JOB_AFTER}::interval)
      returning p.*
    ), told as (
      insert into ops.notices (problem_id, event, message)
      select p.problem_id, 'resolved', ${messageOf(sql`g.title`, sql`g.summary`)}
      from changed p join gone g using (problem_id) where p.resolved_at is not null
      returning notice_id, problem_id
    ), delivered as (
      insert into ops.notice_deliveries (notice_id, channel, due_at, not_before)
      select distinct t.notice_id, d.channel, g.due_at, g.due_at
      from told t join gone g using (problem_id)
      join ops.notices n on n.problem_id = t.problem_id and n.notice_id <> t.notice_id
      join ops.notice_deliveries d on d.notice_id = n.notice_id
    )
    select count(*) as notices from told`;
}

const STAYED_AWAY = (at: Date): RawBuilder<unknown> =>
  sql`(not p.came_back or p.absent_since <= ${at}::timestamptz - ${HOLD_DOWN}::interval)`;
