import type { JobSettings } from '../config/job-fields.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { Progress } from '../core/progress.ts';
import type { RunTarget } from '../core/run.ts';
import type { Spread } from '../core/work.ts';
import type { Database } from '../db/connect.ts';
import type { Client } from '../service/client.ts';
import type { SourceClients } from '../store/source-clients.ts';

export type RunOptions = {
  /** Maximum number of entries to post. Null means no limit. */
  readonly limit: number | null;
  /** Reads only files whose address contains this text. Null means all files. */
  readonly file: string | null;
  /** If true, an empty listing is not a failure. */
  readonly allowEmpty: boolean;
  /**
   * A person's decision that the claims of another ledger do not count. Null means that another ledger is
   * refused.
   */
  readonly newLedger?: { readonly reason: string; readonly decidedBy: string } | null | undefined;
  /**
   * Asks a person to approve what a run is about to do, for kinds that need it (`RunnableKind.approves`).
   * Omitted if no person is present. In that case, only the settings of the job can approve.
   */
  readonly approve?: ((question: string) => Promise<boolean>) | undefined;
};

/** Nouns of a job kind, for sentences. */
export type Nouns = {
  /** What the job processes, in the plural: `orders`. */
  readonly items: string;
  /** The participle for processed items: `posted`. */
  readonly done: string;
};

/** Everything that a step of a run may use. Created by `runJob`, passed down, never modified. */
export type Run<Settings extends JobSettings = JobSettings> = {
  readonly runId: string;
  /** Identifies this process in its leases. */
  readonly owner: string;
  readonly config: PipelineConfig;
  readonly job: Settings;
  readonly nouns: Nouns;
  readonly db: Database;
  readonly options: RunOptions;
  readonly progress: Progress;
  /** Aborts when the run has to drain: it starts nothing new and finishes what is in flight. */
  readonly draining: AbortSignal;
  /** Returns false once this process cannot be sure that it still holds its leases. */
  readonly isLeaseHeld: () => boolean;
  /** Connections to the stores of the exports. */
  readonly sourceClients: SourceClients;
  /** The client of the service. Null for a plan, which sends nothing. */
  readonly client: Client | null;
  /** Distributes units of the run to workers. Omitted if the run does all the work itself. */
  readonly spread?: Spread | undefined;
  /** Called with the target, as soon as the service has named the account and before anything else is read or sent. */
  readonly onTarget?: (target: RunTarget) => void;
};

/** The settings of the job's sources, in the order in which the job lists them. */
export function sourcesOf(run: Pick<Run, 'job' | 'config'>): readonly SourceSettings[] {
  return run.job.sources.map((name) => {
    const source = run.config.sources[name];
    if (source === undefined) throw new Error(`source ${name} was not checked by the configuration`);
    return source;
  });
}

/** Throws `interrupted` if the run was asked to stop. Called between steps, so completed work is kept. */
export function throwIfDraining(run: Run): void {
  if (run.draining.aborted) throw interrupted(run.draining);
}

/**
 * Converts the error of a read that was aborted by draining to `interrupted`, because it is not a bug.
 * Returns any other error unchanged.
 */
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
