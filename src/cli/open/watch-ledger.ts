import type { PipelineConfig } from '../../config/schema.ts';
import type { KnownError } from '../../core/known-error.ts';
import type { Database } from '../../db/connect.ts';
import { findContinuityProblem } from '../../ledger/continuity/compare-ledger.ts';
import { explainFolder } from '../../runs/explain-folder.ts';

/** The ledger is checked seldom, because databases are rarely restored and every run checks the ledger itself. */
export const LEDGER_EVERY_MS = 30_000;

/**
 * Compares the ledger each time it is called, for a process that goes on without posting: events are evidence, so they
 * are kept on a ledger that lost claims, too.
 *
 * @param say called when the ledger has lost claims or cannot be compared, and with null once that is settled.
 * @returns a function that returns the code of the problem, or null.
 */
export function watchLedger(
  { db, config }: { db: Database; config: PipelineConfig },
  say: (problem: KnownError | null) => void,
): () => Promise<string | null> {
  let told: string | null = null;
  return async () => {
    const problem = await findContinuityProblem(db, config).catch((error: unknown) => {
      const unusable = explainFolder(error, config);
      if (unusable === null) throw error;
      return unusable;
    });
    const code = problem?.details.code ?? null;
    if (code !== told) say(problem);
    told = code;
    return code;
  };
}
