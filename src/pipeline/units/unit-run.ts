import { randomUUID } from 'node:crypto';
import type { Client } from '../../api/client.ts';
import type { Database } from '../../db/connect.ts';
import { isConnectionLost } from '../../db/server/connection-lost.ts';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import { KnownError, type KnownErrorDetails } from '../../model/known-error.ts';
import type { Progress } from '../../model/progress.ts';
import type { RunTarget } from '../../model/run.ts';
import type { Unit, UnitKind, UnitResult } from '../../model/work.ts';
import type { SourceClients } from '../../source/source-clients.ts';
import type { UnitAtWork } from '../../work/start-worker.ts';
import type { UnitOutcome } from '../../work/units.ts';
import { inRunPhase } from '../run/run-phase.ts';
import { withLeases } from '../run/with-leases.ts';
import type { Run } from '../run.ts';
import type { RunnableKind } from '../runnable-kind.ts';
import { postShare } from './post-share.ts';
import { readSource } from './read-sources.ts';

/** What a worker needs to do units of any job of its configuration. */
export type UnitSite = {
  readonly config: PipelineConfig;
  readonly db: Database;
  readonly sourceClients: SourceClients;
  readonly client: Client;
  /** @throws KnownError `job_unknown`. */
  readonly findJob: (name: string) => { readonly job: JobSettings; readonly kind: RunnableKind };
  readonly onTarget: (target: RunTarget) => void;
};

/** A run as far as one of its units is concerned. */
export type UnitRun = { readonly run: Run; readonly kind: RunnableKind; readonly unit: Unit };

const PERFORM: Readonly<Record<UnitKind, (unitRun: UnitRun) => Promise<Omit<UnitResult, 'notes'>>>> = {
  'read-source': readSource,
  'post-share': postShare,
};

/** A file may have ten thousand faults; the run shows so many notes of a unit. */
const NOTES_AT_MOST = 100;

/**
 * Does a unit of work as the process of its run would: with a lease of its own, by the same functions.
 *
 * @throws what is no fault of the unit (the database is away, a bug): then it is begun again.
 */
export async function performUnit(
  { config, db, sourceClients, client, findJob, onTarget }: UnitSite,
  { unit, signal, advance }: UnitAtWork,
): Promise<UnitOutcome> {
  const notes: string[] = [];
  const told: Progress = {
    begin() {},
    // Of a file that is read, what counts for the run is its rows.
    advance: (count, rows = 0) => advance(unit.kind === 'read-source' ? rows : count),
    note(message) {
      if (notes.length < NOTES_AT_MOST) notes.push(message);
    },
    end() {},
  };
  const lease = {
    // Nobody else's, so that it is free: a unit that is begun twice posts nothing twice, since each entry is claimed.
    names: [`unit:${unit.unitId}:${randomUUID()}`],
    ttlMs: config.api.leaseSeconds * 1_000,
    draining: signal,
  };
  try {
    const { job, kind } = findJob(unit.job);
    const result = await withLeases(db, lease, ({ owner, heartbeat }) =>
      inRunPhase({ progress: told, draining: signal }, (progress) =>
        PERFORM[unit.kind]({
          unit,
          kind,
          run: {
            ...{ runId: unit.runId, owner, config, job, nouns: kind.nouns },
            ...{ db, progress, sourceClients, client },
            ...{ draining: signal, isLeaseHeld: heartbeat.isHeld, onTarget },
            options: {
              limit: null,
              file: textOf(unit.payload.file),
              allowEmpty: unit.payload.allowEmpty === true,
            },
          },
        }),
      ),
    );
    if (signal.aborted) return { state: 'returned', outcome: null };
    return { state: 'done', outcome: { ...result, notes } };
  } catch (error) {
    if (signal.aborted) return { state: 'returned', outcome: null };
    if (!(error instanceof KnownError) || isConnectionLost(error)) throw error;
    return { state: 'failed', outcome: storable(error.details) };
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function storable({ cause: _, ...details }: KnownErrorDetails): KnownErrorDetails {
  return details;
}
