import type { PipelineConfig } from '../config/schema.ts';
import type { Finding } from '../core/finding.ts';
import type { KnownErrorDetails } from '../core/known-error.ts';
import type { Database } from '../db/connect.ts';
import type { Client } from '../service/client.ts';
import type { SourceClients } from '../store/source-clients.ts';
import type { RunnableKind } from './runnable-kind.ts';

/** Everything that a check may examine. Checks change nothing. */
export type Patient = {
  readonly config: PipelineConfig;
  /** The known job kinds. */
  readonly kinds: readonly RunnableKind[];
  /** Null if the database could not be opened. The database check reports the reason. */
  readonly db: Database | null;
  /**
   * Why `db` is null. If this is null too, the database is the embedded one and no run has created it yet.
   */
  readonly databaseProblem: KnownErrorDetails | null;
  /**
   * True if the tables exist in the version of this program and this user may read them. Checks query the
   * tables only in this case.
   */
  readonly hasTables: boolean;
  /** Null if the configuration names no service. The service check reports that. */
  readonly client: Client | null;
  readonly sourceClients: SourceClients;
  /** The value of PGSSLMODE. Empty if it is not set. */
  readonly pgSslMode: string;
  readonly now: () => Date;
  /** Returns the free bytes of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
};

/**
 * One thing that `doctor` looks at. Add it as a file in `checks/` and a line in `examine.ts`, or in the `doctor.ts` of
 * a kind of job. If something else is broken, leave the report to the diagnostic of that part. A `KnownError` that it
 * throws becomes a finding.
 */
export type Diagnostic = {
  readonly name: string;
  readonly look: (patient: Patient) => Promise<readonly Finding[]>;
};
