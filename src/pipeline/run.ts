import type { Client } from '../api/client.ts';
import type { Database } from '../db/connect.ts';
import type { JobSettings, PipelineConfig, SourceSettings } from '../model/config.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { Progress } from '../model/progress.ts';
import type { RunTarget } from '../model/run.ts';
import type { Spread } from '../model/work.ts';
import type { SourceClients } from '../source/source-clients.ts';
import type { Nouns } from './runnable-kind.ts';

export type RunOptions = {
  /** Entries to post at most; null for all. */
  readonly limit: number | null;
  /** Read only files whose address contains this; null for all. */
  readonly file: string | null;
  /** An empty listing is no failure. */
  readonly allowEmpty: boolean;
  /** A person's decision that what another ledger posted does not count; null: another ledger is refused. */
  readonly newLedger?: { readonly reason: string; readonly decidedBy: string } | null | undefined;
  /**
   * Has a person approve what a run is about to do, of a kind that needs it (`RunnableKind.approves`). Left out where no person is there: then
   * only the settings of the job approve.
   */
  readonly approve?: ((question: string) => Promise<boolean>) | undefined;
};

/** What every step of a run may use. Made by `runJob`, handed down, never changed. */
export type Run<Settings extends JobSettings = JobSettings> = {
  readonly runId: string;
  /** This process, as its leases name it. */
  readonly owner: string;
  readonly config: PipelineConfig;
  readonly job: Settings;
  /** Words of its kind. */
  readonly nouns: Nouns;
  readonly db: Database;
  readonly options: RunOptions;
  readonly progress: Progress;
  /** Aborts when the run is to drain: nothing new is begun, what is on its way is finished. */
  readonly draining: AbortSignal;
  /** False once this process can no longer be sure of its leases. */
  readonly isLeaseHeld: () => boolean;
  /** Connections to where exports arrive. */
  readonly sourceClients: SourceClients;
  /** The service; null for a plan, which sends nothing. */
  readonly client: Client | null;
  /** Hands out parts of the run to workers; left out where it does everything itself. */
  readonly spread?: Spread | undefined;
  /** Told where the run sends to, before it does. */
  readonly onTarget?: (target: RunTarget) => void;
};

/** The settings of the job's sources, in the order of the configuration. */
export function sourcesOf(run: Run): readonly SourceSettings[] {
  return run.job.sources.map((name) => {
    const source = run.config.sources[name];
    if (source === undefined) throw new Error(`source ${name} was not checked by the configuration`);
    return source;
  });
}

/** Thrown between steps when the run was asked to end: what is done stays done. */
export function throwIfDraining(run: Run): void {
  if (run.draining.aborted) throw interrupted(run.draining);
}

/** What a read that was cut short by draining throws is no bug: the run was asked to end. Any other error stays what it is. */
export function explainAbort(error: unknown, draining: AbortSignal): unknown {
  const isAbort = error === draining.reason || (error instanceof Error && error.name === 'AbortError');
  return draining.aborted && isAbort ? interrupted(draining) : error;
}

function interrupted({ reason }: AbortSignal): KnownError {
  if (reason instanceof KnownError) return reason;
  return new KnownError({
    code: 'interrupted',
    message: 'The run was told to stop.',
    help: 'Run the job again: it continues where this run stopped.',
    safe: 'It reads unfinished files again, and posts nothing twice.',
    exitCode: EXIT.interrupted,
  });
}
