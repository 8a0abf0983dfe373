import { setTimeout as sleep } from 'node:timers/promises';
import { type Bulk, type BulkDecision, countOf, describeBulk, isAboutFiles } from '../../core/bulk.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Database } from '../../db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../../db/in-transaction.ts';
import { runBulk } from '../../decisions/run-bulks.ts';
import { abortSettlement, confirmSettlement } from '../../decisions/settle-many.ts';
import { describeRepetition } from '../../ledger/effects/index.ts';
import { renderWarning, safeMessage } from '../../render/error.ts';
import { describeBulkSums, findBulk, findBulkEffects, sumBulkItems } from '../../reports/bulk/read-bulk.ts';
import { confirmByWord } from '../terminal/ask-person.ts';
import { listenForStop } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { decidedHere } from '../terminal/read-operator.ts';

/** The word that a person types to confirm each bulk decision. */
const CONFIRMED_BY: Readonly<Record<BulkDecision, string>> = {
  accepted: 'accept',
  write_off: 'write off',
  resend: 'resend',
  acknowledge: 'acknowledge',
  release: 'release',
  reread: 'reread',
};

/** How often to poll the progress while another process, which serves the console, carries out the action. */
const LOOK_MS = 250;

export type ManyToDecide = {
  readonly output: Output;
  readonly reason: string;
  readonly yes: boolean;
  /** Whether to stop after the preview, in a transaction that is rolled back. */
  readonly dryRun?: boolean | undefined;
  /** How long the lease of a process that died is respected before another one continues. */
  readonly leaseMs: number;
  /** Freezes the selection. @returns the id of the bulk action; null if nothing matches. */
  readonly preview: (trx: DatabaseTransaction) => Promise<string | null>;
  /** Message if nothing matches. */
  readonly none: string;
};

/**
 * Shows the effects of a bulk decision, asks for confirmation, and carries it out like the console: frozen,
 * item by item, each with its audit record. The first Ctrl-C aborts it; whatever is settled stays settled.
 */
export async function decideMany(db: Database, many: ManyToDecide): Promise<ExitCode> {
  const { output, preview, none, reason, yes, dryRun = false } = many;
  const previewed = await inTransaction(db, preview);
  const bulk = previewed === null ? null : await findBulk(db, previewed);
  if (bulk === null) {
    output.print(none);
    return EXIT.ok;
  }
  const { bulkId, decision, entries, ineligible, amounts, chosen } = bulk;
  const left = (await sumBulkItems(db, bulkId)).filter(({ outcome }) => outcome !== null);
  output.emit({ event: 'bulk_previewed', bulkId, decision, chosen, entries, ineligible, amounts, left });
  output.show([describeBulkSums(bulk, left)]);
  if (entries === 0 || dryRun || (!yes && !(await confirm(db, { bulk, output })))) {
    output.print('Nothing was changed.');
    return EXIT.ok;
  }
  await inTransaction(db, (trx) => confirmSettlement(trx, { bulkId, reason, ...decidedHere(trx) }));
  return carryOut(db, { ...many, bulk });
}

async function confirm(
  db: Database,
  { bulk, output }: { readonly bulk: Bulk; readonly output: Output },
): Promise<boolean> {
  if (bulk.decision === 'resend')
    output.warn(
      renderWarning(
        `If the service has already processed ${bulk.entries === 1 ? 'it' : `any of these ${countOf('resend', bulk.entries)}`}, ${describeRepetition(await findBulkEffects(db, bulk.bulkId))}.`,
        output.terminal,
      ),
    );
  return confirmByWord(CONFIRMED_BY[bulk.decision], `${describeBulk(bulk)}. `);
}

async function carryOut(
  db: Database,
  { bulk, output, leaseMs }: ManyToDecide & { readonly bulk: Bulk },
): Promise<ExitCode> {
  const { bulkId, decision, entries } = bulk;
  const stopping = listenForStop(output, 'Stopping after this one. What is already settled stays settled.');
  const progress = output.createProgress();
  const noun = isAboutFiles(decision) ? 'files' : 'entries';
  progress.begin({ name: 'settle', label: `Bulk action ${bulkId}`, unit: noun, total: entries });
  let shown = 0;
  const onItem = (): void => {
    shown += 1;
    progress.advance(1);
  };
  const onError = (error: unknown): void =>
    output.warn(`One entry could not be settled: ${safeMessage(error)}`);
  try {
    for (;;) {
      await runBulk(db, { bulkId, leaseMs, stopping: stopping.signal, onError, onItem });
      if (stopping.signal.aborted) await abort(db, { bulkId, leaseMs, onError });
      const now = await findBulk(db, bulkId);
      if (now?.endedAt != null) break;
      const waiting = (await sumBulkItems(db, bulkId)).find(({ outcome }) => outcome === null)?.entries ?? 0;
      while (shown < entries - waiting) onItem();
      await sleep(LOOK_MS);
    }
  } finally {
    progress.end();
    stopping.ignore();
  }
  return tellEnd(db, { bulkId, output });
}

/**
 * Aborts the action; waiting items stay unchanged. Then finishes it, which refreshes the reports and ignores signals.
 */
async function abort(
  db: Database,
  options: { readonly bulkId: string; readonly leaseMs: number; readonly onError: (error: unknown) => void },
): Promise<void> {
  const { bulkId } = options;
  await inTransaction(db, (trx) =>
    abortSettlement(trx, { bulkId, reason: 'interrupted', ...decidedHere(trx) }),
  );
  await runBulk(db, { ...options, stopping: new AbortController().signal });
}

async function tellEnd(
  db: Database,
  { bulkId, output }: { bulkId: string; output: Output },
): Promise<ExitCode> {
  const bulk = await findBulk(db, bulkId);
  if (bulk === null) throw new Error(`bulk action ${bulkId} is gone`);
  const sums = await sumBulkItems(db, bulkId);
  const count = (wanted: string | null): number =>
    sums.reduce((sum, { outcome, entries }) => (outcome === wanted ? sum + entries : sum), 0);
  const [settled, changed, failed] = [count('settled'), count('changed'), count('failed')];
  output.emit({ event: 'bulk_ended', bulkId, state: bulk.state, settled, changed, failed });
  output.show([describeBulkSums(bulk, sums)]);
  if (bulk.state === 'aborted') return EXIT.interrupted;
  return failed > 0 ? EXIT.crash : EXIT.ok;
}
