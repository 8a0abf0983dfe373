import { databaseLocation } from '../config/locate.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { Progress } from '../core/progress.ts';
import { plural } from '../core/text/plural.ts';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { recordAudit } from '../ops/record-audit.ts';
import type { Run, RunOptions } from '../ops/run.ts';
import type { Client } from '../service/client.ts';
import type { Continuity } from './continuity/check-continuity.ts';
import { compare } from './continuity/compare-ledger.ts';
import { ensureLedgerId, readLedgerId, shortLedgerId } from './continuity/identity.ts';
import { type Journal, openJournal } from './continuity/journal.ts';
import type { ClaimedAttempt } from './continuity/journal-lines.ts';
import {
  beginRecord,
  describeBlindness,
  describeJournals,
  openMark,
  ownJournalFolders,
} from './continuity/journal-places.ts';
import { keepLedgerLocation, registerMachine } from './continuity/machines.ts';
import type { Mark } from './continuity/mark.ts';
import { beginNewLedger, type RecoveryOptions } from './continuity/recover.ts';
import { bindAccount, identifyAccount } from './open-account.ts';

/** The ledger of a run, once it was verified to contain everything that was posted before. */
export type OpenLedger = {
  readonly accountId: string;
  readonly ledgerId: string;
  /** Claims that the database must still have at the next claim. Updated when a journal is closed. */
  heads(): readonly ClaimedAttempt[];
  /** The second copy of the journals, outside of this machine. Null if none is configured. */
  readonly mark: Mark | null;
  /** The folders in which the processes of this machine keep their journals. */
  readonly journalFolders: readonly string[];
  /** Where the database must still be when claims are made. Null if the server does not report it. */
  readonly place: string | null;
  /** Opens the journal of one phase of posting, and registers this machine for it. */
  openJournal(): Promise<Journal>;
};

export type LedgerOptions = {
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly owner: string;
  readonly progress: Pick<Progress, 'note'>;
  readonly options: Pick<RunOptions, 'newLedger'>;
  readonly onTarget?: Run['onTarget'];
};

/**
 * Asks the service which account the key belongs to, verifies that the ledger contains everything that was
 * posted from here before, and binds the ledger to the account on first use.
 *
 * @throws KnownError `key_refused`, `wrong_account` (exit 4), `service_unavailable` (exit 1),
 * `ledger_went_back`, `ledger_swapped`, `ledger_incomplete`, `ledger_moved` (exit 7). Nothing was changed,
 * and nothing was sent except the question about the account.
 */
export async function openLedger(options: LedgerOptions, client: Client): Promise<OpenLedger> {
  const { db, config, owner } = options;
  const accountId = await identifyAccount(client, config.api.url);
  await decideNewLedger(options, accountId);
  const continuity = await requireContinuity(options, accountId);
  await bindAccount(db, accountId);
  const ledgerId = await ensureLedgerId(db);
  await keepLedgerLocation(db);
  options.onTarget?.({
    service: config.api.url,
    accountId,
    ledger: `${databaseLocation(config.database)} (${shortLedgerId(ledgerId)})`,
  });
  const mark = openMark(config);
  const { folder, copyFolder } = ownJournalFolders(config, ledgerId);
  let heads = continuity.kind === 'continuous' ? continuity.heads : [];
  return {
    accountId,
    ledgerId,
    mark,
    journalFolders: copyFolder === null ? [folder] : [folder, copyFolder],
    heads: () => heads,
    place: continuity.kind === 'continuous' ? continuity.place : null,
    async openJournal() {
      await registerMachine(db, folder);
      const copyTo = copyFolder === null ? null : beginRecord(config, copyFolder);
      const journal = openJournal({ folder, copyFolder: copyTo, ledgerId, accountId, owner, mark });
      return {
        ...journal,
        async close() {
          const last = journal.last();
          if (last !== null) heads = [last];
          await journal.close();
        },
      };
    },
  };
}

/** Applies `--new-ledger`: claims of another ledger no longer count. Does not excuse claims that were lost. */
async function decideNewLedger(
  { db, config, progress, options }: LedgerOptions,
  accountId: string,
): Promise<void> {
  const { newLedger = null } = options;
  if (newLedger === null) return;
  const { continuity, folders, machineId, isShared } = await compare(db, { config, accountId });
  if (continuity.kind !== 'went_back' || !continuity.isOther) return;
  await bindAccount(db, accountId);
  const compared = { folders, machineId, isShared, accountId };
  const claims = await beginAuditedLedger(db, { ...compared, ...newLedger });
  progress.note(
    `This run starts a new ledger. ${plural(claims, 'claim')} of another ledger ${claims === 1 ? 'does' : 'do'} not count in it.`,
  );
}

/**
 * Verifies the ledger, and says what cannot be seen.
 *
 * @throws KnownError (exit 7) like `openLedger`.
 */
export async function requireContinuity(
  { db, config, progress }: Pick<LedgerOptions, 'db' | 'config' | 'progress'>,
  accountId?: string,
): Promise<Continuity> {
  const { continuity, problem } = await compare(db, { config, accountId });
  if (problem !== null) throw problem;
  const ledgerId = await readLedgerId(db);
  const hasClaims = continuity.kind !== 'unmarked' || continuity.hasClaims;
  const blindness = describeBlindness(config, { ledgerId, hasClaims });
  if (continuity.kind === 'unmarked' && hasClaims)
    progress.note(
      `This machine has no journal of ledger ${shortLedgerId(ledgerId ?? '')}, so this run cannot detect a restored database. Later runs can, as long as you keep ${describeJournals(config)}.`,
    );
  else if (blindness !== null) progress.note(blindness);
  return continuity;
}

/**
 * Begins a new ledger by a person's decision, and records it in the audit, in one commit.
 *
 * @returns the number of claims of other ledgers that no longer count.
 */
function beginAuditedLedger(db: Database, options: RecoveryOptions): Promise<number> {
  const { accountId, decidedBy, reason } = options;
  return inTransaction(db, async (trx) => {
    const claims = await beginNewLedger(trx, options);
    await recordAudit(trx, {
      actor: decidedBy,
      via: 'command',
      reason,
      action: 'begin_new_ledger',
      subjectKind: 'ledger',
      subject: accountId,
      summary: 'Began a new ledger: claims of another one do not count in it.',
      after: { disregarded_claims: claims },
    });
    return claims;
  });
}
