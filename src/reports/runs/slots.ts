import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { NextSlot } from '../../ops/schedule/next-slots.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { plural } from '../../render/text.ts';
import type { ListedSlot, PausedJob, SlotSummary } from './list-slots.ts';

/** Renders the next slots and the results of past ones. Empty if no job runs on schedule. */
export function renderSchedule(
  next: readonly NextSlot[],
  {
    slots: summaries,
    pausedJobs,
  }: { readonly slots: readonly SlotSummary[]; readonly pausedJobs: readonly PausedJob[] },
  terminal: Terminal,
): string {
  if (next.length === 0) return '';
  const columns = [
    { title: 'job' },
    { title: 'when' },
    { title: 'next slot (UTC)', cutAt: 'never' },
    { title: 'last slot (UTC)', cutAt: 'never' },
    { title: 'was', cutAt: 'never' },
  ] as const;
  const rows = next.map((job) => {
    const last = summaries.find((summary) => summary.job === job.job)?.last;
    return [job.job, whenOf(job), minuteOf(job.at), minuteOf(last?.slot ?? null), last?.state ?? ''];
  });
  const troubles = summaries.filter(({ missed, skipped, failed }) => missed + skipped + failed > 0);
  const lines = troubles.map((summary) => terminal.style('yellow', renderTrouble(summary, terminal)));
  return [
    terminal.style('bold', 'Schedule (kept by `serve`)'),
    renderTable(columns, rows, { terminal }),
    ...pausedJobs.map((pause) => terminal.style('yellow', renderPause(pause, terminal))),
    ...lines,
  ].join('\n');
}

function renderPause({ job, pausedBy, reason, pausedAt }: PausedJob, terminal: Terminal): string {
  const text = `${job}: paused since ${minuteOf(pausedAt)} by ${pausedBy}: ${reason}. Its slots are skipped. Resume it with npx influencer-sync jobs resume, or in the console.`;
  return wrap(text, { width: terminal.columns, indent: '    ', firstIndent: '  ' });
}

function whenOf({ schedule, timeZone, after }: NextSlot): string {
  if (schedule === null) return `after ${after}`;
  return timeZone === 'UTC' ? schedule : `${schedule} ${timeZone}`;
}

function renderTrouble({ job, last, ...counts }: SlotSummary, terminal: Terminal): string {
  const parts = (['missed', 'skipped', 'failed'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${plural(counts[state], 'slot')} ${state}`);
  const why = last.reason === null || last.state === 'due' ? '' : ` The last one: ${last.reason}`;
  return wrap(`${job}: ${parts.join(', ')} in the last 7 days.${why}`, {
    width: terminal.columns,
    indent: '    ',
    firstIndent: '  ',
  });
}

/** Renders slots that did not run or did not complete, each with its reason. Empty if there are none. */
export function renderSlotTroubles(slots: readonly ListedSlot[], terminal: Terminal): string {
  if (slots.length === 0) return '';
  const lines = slots.map(({ job, slot, state, reason, runId }) => {
    const run = runId === null ? '' : ` (run ${runId})`;
    return wrap(`${minuteOf(slot)} ${job} ${state}${run}: ${reason ?? ''}`, {
      width: terminal.columns,
      indent: '    ',
      firstIndent: '  ',
    });
  });
  return [terminal.style('bold', 'Slots that did not succeed (UTC)'), ...lines].join('\n');
}

function minuteOf(at: Date | null): string {
  return at === null ? '' : formatInstant(at).slice(0, 16);
}
