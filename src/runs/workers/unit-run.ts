import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { JobSettings } from '../../config/job-fields.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { KnownError } from '../../core/known-error.ts';
import type { Progress } from '../../core/progress.ts';
import type { RunTarget } from '../../core/run.ts';
import type { Unit, UnitKind, UnitResult } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { isConnectionLost } from '../../db/server/connection-lost.ts';
import { explainAbort, type Run } from '../../ops/run.ts';
import { inRunPhase } from '../../ops/run-phase.ts';
import { withLeases } from '../../ops/with-leases.ts';
import type { Client } from '../../service/client.ts';
import type { SourceClients } from '../../store/source-clients.ts';
import type { RunnableKind } from '../runnable-kind.ts';
import { unlessAbandoned, type WatchedRun, watchRun } from '../watch-run.ts';
import { postShare } from './post-share.ts';
import { readSource } from './read-sources.ts';
import { requireSame, type UnitRun } from './share.ts';
import type { UnitAtWork } from './start-worker.ts';
import type { UnitOutcome } from './units.ts';

/** What a worker needs to perform units of any job of its configuration. */
export type UnitSite = {
  readonly config: PipelineConfig;
  readonly db: Database;
  readonly sourceClients: SourceClients;
  readonly client: Client;
  /** Finds a job that the configuration names. */
  readonly findJob: (name: string) => { readonly job: JobSettings; readonly kind: RunnableKind };
  readonly onTarget: (target: RunTarget) => void;
};

const PERFORM: Readonly<Record<UnitKind, (unitRun: UnitRun) => Promise<Omit<UnitResult, 'notes'>>>> = {
  'read-source': readSource,
  'post-share': postShare,
  'post-backfill': postShare,
  'fetch-deals': performOwn,
  'submit-batches': performOwn,
};

/** Performs a unit that only runs of one kind hand out. */
function performOwn({ run, kind, unit }: UnitRun): Promise<Omit<UnitResult, 'notes'>> {
  if (kind.performUnit === undefined) throw new Error(`no worker can do ${unit.kind} for ${kind.kind}`);
  return kind.performUnit(run, unit);
}

/** Maximum number of notes of a unit that the run shows. A file may have ten thousand faults. */
const NOTES_AT_MOST = 100;

/**
 * Performs a unit of work as the process of its run would: with its own lease, and with the same functions.
 *
 * @throws errors that the unit did not cause (the database is unreachable, a bug). The unit is then started
 * again.
 */
export async function performUnit(
  { config, db, sourceClients, client, findJob, onTarget }: UnitSite,
  { unit, signal, advance, isRunHeld }: UnitAtWork,
): Promise<UnitOutcome> {
  const notes: string[] = [];
  const lease = {
    // A unique name, so that the lease is always free. A unit that is started twice posts nothing twice,
    // because each entry is claimed.
    names: [`unit:${unit.unitId}:${randomUUID()}`],
    ttlMs: config.api.leaseSeconds * 1_000,
    draining: signal,
  };
  /** True if the unit was cut short because its run or this worker ends, which is not its fault. */
  const isLeft = () => signal.aborted || !isRunHeld();
  let watched: WatchedRun | null = null;
  try {
    const isConfigured = config.jobs[unit.job] !== undefined;
    requireSame(`configuration (without job ${unit.job})`, { here: isConfigured, there: true });
    const { job, kind } = findJob(unit.job);
    watched = watchUnit(unit, { config, job, draining: signal });
    const { draining, abandoned, progress: signs } = watched;
    const told: Progress = {
      begin: signs.begin,
      advance(count, rows = 0) {
        signs.advance(count);
        // While a source is read, the run counts rows, not bytes.
        advance(unit.kind === 'read-source' ? rows : count);
      },
      note(message) {
        signs.note(message);
        if (notes.length < NOTES_AT_MOST) notes.push(message);
      },
      end: signs.end,
    };
    const result = await withLeases(db, lease, ({ owner, heartbeat }) => {
      const work = inRunPhase({ progress: told, draining, abandoned }, (progress) =>
        PERFORM[unit.kind]({
          unit,
          kind,
          run: {
            runId: unit.runId,
            owner,
            config,
            job,
            nouns: kind.nouns,
            db,
            progress,
            sourceClients,
            client,
            isLeaseHeld: () => !abandoned.aborted && heartbeat.isHeld() && isRunHeld(),
            draining,
            onTarget,
            options: {
              limit: null,
              file: textOf(unit.payload.file),
              allowEmpty: unit.payload.allowEmpty === true,
            },
          },
        }),
      );
      return unlessAbandoned(work, abandoned);
    });
    if (isLeft()) return { state: 'returned', outcome: null };
    return { state: 'done', outcome: { ...result, notes } };
  } catch (caught) {
    const error = watched === null ? caught : explainAbort(caught, watched.draining);
    if (isLeft()) return { state: 'returned', outcome: null };
    if (!(error instanceof KnownError) || isConnectionLost(error)) throw error;
    const { cause: _, ...outcome } = error.details;
    return { state: 'failed', outcome };
  } finally {
    watched?.stop();
  }
}

/**
 * Ends the reading of a source that makes no progress for as long as a run may make none (`stall_minutes`).
 * A file may have any size, so each byte or row that is read renews that time. The units of other kinds end by
 * themselves: their number of requests is limited, and each request has a timeout.
 */
function watchUnit(
  { kind, payload }: Unit,
  { config, job, draining }: Pick<Run, 'config' | 'job' | 'draining'>,
): WatchedRun {
  return watchRun({
    subject: `The reading of source ${textOf(payload.source)} by a worker (process ${process.pid} on ${hostname()})`,
    timing: {
      deadlineMinutes: null,
      stepMinutes: null,
      stallMinutes: kind === 'read-source' ? job.stallMinutes : Number.POSITIVE_INFINITY,
    },
    draining,
    graceMs: config.serve.graceSeconds * 1_000,
    // The clients of stores belong to other units too. A read that ignores its signal is abandoned.
    cut() {},
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
