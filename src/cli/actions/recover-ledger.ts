import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { formatAmounts } from '../../core/money.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { bindAccount } from '../../ledger/bind-account.ts';
import { ensureLedgerId } from '../../ledger/continuity/identity.ts';
import { type Recovered, recoverLedger } from '../../ledger/continuity/recover.ts';
import { compare } from '../../ledger/sending/compare-ledger.ts';
import { spoolFolder } from '../../ledger/sending/recover-previous-runs.ts';
import { replaySpool } from '../../ledger/spool.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { ConfigOptions } from '../command.ts';
import { openConfig, withMigratedDatabase } from '../open/open-config.ts';
import { listenForStop } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';
import { requireReason } from '../usage-error.ts';
import { recordList, showSeeded } from './manage-seeds.ts';

export type RecoverOptions = ConfigOptions & {
  readonly reason: string;
  readonly from?: string;
  readonly acceptUndescribed?: boolean;
};

/**
 * Makes a database usable again that lost claims of this data folder. It records the lost claims as accepted,
 * in doubt or not processed, and the list of the service if one is given, in one transaction: all of it, or nothing. Running
 * it again is harmless.
 *
 * @returns 0 if runs can continue.
 * @throws KnownError (exit 7) if claims are missing that no journal on this machine describes.
 */
export async function recoverLostClaims(output: Output, options: RecoverOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const reason = requireReason(options.reason);
  const decidedBy = readOperator();
  const progress = output.createProgress();
  const stopping = listenForStop(output);
  return withMigratedDatabase(config, { progress, stopping }, async (db) => {
    const { continuity, accountId: bound, folders, machineId, isShared } = await compare(db, { config });
    const accountId = bound ?? (continuity.kind === 'went_back' ? continuity.accountId : null);
    const { from } = options;
    const { seeded, recovered } = await inTransaction(db, async (trx) => {
      const list = from === undefined ? null : await recordList(trx, { config, path: from, reason });
      if (accountId === null) return { seeded: list, recovered: null };
      await bindAccount(trx, accountId);
      await ensureLedgerId(trx);
      const acceptsUndescribed = options.acceptUndescribed === true;
      const found = await recoverLedger(trx, {
        ...{ folders, machineId, isShared },
        ...{ accountId, reason, decidedBy, acceptsUndescribed },
      });
      const { claims, accepted, inDoubt, notProcessed } = found;
      await auditIn(trx)({
        ...{ action: 'recover_ledger', subjectKind: 'ledger', subject: accountId, reason },
        summary: `Recovered ${plural(claims, 'claim')} that the database had lost.`,
        after: { accepted, in_doubt: inDoubt, not_processed: notProcessed },
      });
      return { seeded: list, recovered: found };
    });
    if (seeded !== null) showSeeded(output, seeded);
    if (recovered === null) {
      output.print('No run has posted from this data folder yet, so there is nothing to recover.');
      return EXIT.ok;
    }
    // Answers that a process had received before it found that the database had changed.
    const spooled = await replaySpool(db, spoolFolder({ config }), '');
    const { problem: after } = await compare(db, { config });
    output.emit({ event: 'ledger_recovered', ...recovered, spooled: spooled.answers });
    output.print(renderRecovered(recovered));
    if (after === null) return EXIT.ok;
    throw new KnownError({
      ...after.details,
      safe: 'What this command recorded stays recorded, and running it again adds nothing twice. Nothing is posted until no claim is missing.',
    });
  }).finally(() => stopping.ignore());
}

function renderRecovered({ claims, accepted, inDoubt, notProcessed, amounts }: Recovered): string {
  if (claims === 0) return 'The database has every claim that is in the journals.';
  return [
    `Recovered ${plural(claims, 'claim')} that the database had lost (${formatAmounts(amounts)}):`,
    `  ${formatCount(accepted)} accepted by the service: not posted again`,
    `  ${formatCount(inDoubt)} in doubt: not posted again; settle them with \`npx influencer-sync review\` after the next run`,
    `  ${formatCount(notProcessed)} not processed: posted by the next run`,
    'The next run reads the files again and finds their orders.',
  ].join('\n');
}
