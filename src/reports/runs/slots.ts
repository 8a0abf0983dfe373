import { formatMinute } from '../../core/text/format-instant.ts';
import type { NextSlot } from '../../ops/schedule/next-slots.ts';
import { type Block, column, item, type Part, section, table, whole } from '../../render/block.ts';
import { clause } from '../../render/text.ts';
import type { ListedSlot, PausedJob, SlotSummary } from './list-slots.ts';

/** Describes the next slots and the results of past ones. Empty if no job runs on schedule. */
export function describeSchedule(
  next: readonly NextSlot[],
  {
    slots,
    pausedJobs,
  }: { readonly slots: readonly SlotSummary[]; readonly pausedJobs: readonly PausedJob[] },
): readonly Block[] {
  if (next.length === 0) return [];
  const rows = next.map((job) => ({ ...job, last: slots.find((one) => one.job === job.job)?.last ?? null }));
  return section('Schedule (kept by `serve`)', {
    parts: [
      table(rows, [
        column('job', ({ job }) => job),
        column('when', whenOf),
        whole('next slot (UTC)', ({ at }) => formatMinute(at)),
        whole('last slot (UTC)', ({ last }) => formatMinute(last?.slot ?? null)),
        whole('was', ({ last }) => last?.state ?? null),
      ]),
      ...pausedJobs.map(({ job, pausedBy, reason, pausedAt }) =>
        warning(
          `${job}: paused since ${formatMinute(pausedAt)} by ${pausedBy}: ${reason}. Its slots are skipped. Resume it with npx influencer-sync jobs resume, or in the console.`,
        ),
      ),
      ...slots.flatMap(describeTrouble),
    ],
  });
}

function warning(text: string): Part {
  return { kind: 'item', text, tone: 'yellow' };
}

function whenOf({ schedule, timeZone, after }: NextSlot): string {
  if (schedule === null) return `after ${after}`;
  return timeZone === 'UTC' ? schedule : `${schedule} ${timeZone}`;
}

function describeTrouble({ job, last, ...counts }: SlotSummary): readonly Part[] {
  const parts = (['missed', 'skipped', 'failed'] as const).flatMap((state) =>
    clause(counts[state], `slot ${state}`, `slots ${state}`),
  );
  if (parts.length === 0) return [];
  const why = last.reason === null || last.state === 'due' ? '' : ` The last one: ${last.reason}`;
  return [warning(`${job}: ${parts.join(', ')} in the last 7 days.${why}`)];
}

/** Describes slots that did not run or did not complete, each with its reason. Empty if there are none. */
export function describeSlotTroubles(slots: readonly ListedSlot[]): readonly Block[] {
  return section('Slots that did not succeed (UTC)', {
    parts: slots.map(({ job, slot, state, reason, runId }) => {
      const run = runId === null ? '' : ` (run ${runId})`;
      return item(`${formatMinute(slot)} ${job} ${state}${run}: ${reason ?? ''}`);
    }),
  });
}
