import type { Client } from '../../api/client.ts';
import type { Database } from '../../db/connect.ts';
import type { PipelineConfig } from '../../model/config.ts';
import type { Finding } from '../../model/finding.ts';
import type { KnownErrorDetails } from '../../model/known-error.ts';
import type { SourceClients } from '../../source/source-clients.ts';
import type { RunnableKind } from '../runnable-kind.ts';

/** What a check may look at. Nothing of it is changed by looking. */
export type Patient = {
  readonly config: PipelineConfig;
  /** Those of which a job may be. */
  readonly kinds: readonly RunnableKind[];
  /** Null where it could not be opened; the check of the database says why. */
  readonly db: Database | null;
  /** Why there is no `db`; null: it is the embedded one, and nothing has run yet. */
  readonly databaseProblem: KnownErrorDetails | null;
  /** The tables are there, as this version has them, and this user may read them: only then is anything asked of them. */
  readonly hasTables: boolean;
  /** Null where the configuration names no service; the check of the service says so. */
  readonly client: Client | null;
  readonly sourceClients: SourceClients;
  /** PGSSLMODE; empty where it is not set. */
  readonly pgSslMode: string;
  readonly now: () => Date;
  /** Free bytes of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
};

/**
 * One thing to look at: a file in `checks/` and a line in its `index.ts`, or in the `doctor.ts` of a kind of job. What cannot be looked at because something else is broken
 * is left to the check of that; a `KnownError` that is thrown becomes a finding.
 */
export type Check = {
  readonly name: string;
  readonly look: (patient: Patient) => Promise<readonly Finding[]>;
};
