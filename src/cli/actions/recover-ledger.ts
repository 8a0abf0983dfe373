import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { formatAmounts } from '../../core/money.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { bindAccount, boundAccount } from '../../ledger/bind-account.ts';
import { ensureLedgerId } from '../../ledger/continuity/identity.ts';
import { type Recovered, recoverLedger } from '../../ledger/continuity/recover.ts';
import { compare, explainContinuity } from '../../ledger/open-ledger.ts';
import { spoolFolder } from '../../ledger/sending/recover-previous-runs.ts';
import { replaySpool } from '../../ledger/spool.ts';
import { formatCount, plural } from '../../render/text.ts';
import { renderSeeded } from '../../reports/seeds.ts';
import type { ConfigOptions } from '../command.ts';
import { openConfig, withMigratedDatabase } from '../open/open-config.ts';
import { seedOrders } from '../seed-orders.ts';
import { listenForStop } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';
import { requireReason } from '../usage-error.ts';
import { auditOfSeed } from './manage-seeds.ts';

export type RecoverOptions = ConfigOptions & {
  readonly reason: string;
  readonly from?: string;
  readonly acceptUndescribed?: boolean;
};

/**
 * Makes a database usable again that lost claims of this data folder. It records the lost claims as accepted,
 * in doubt or not processed.
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
    const bound = await boundAccount(db);
    const { continuity, ...compared } = await compare(db, { config, accountId: bound });
    const accountId = bound ?? (continuity.kind === 'went_back' ? continuity.accountId : null);
    if (options.from !== undefined) {
      const list = { config, path: options.from, reason, seededBy: decidedBy };
      const seeded = await inTransaction(db, async (trx) => {
        const recorded = await seedOrders(trx, list);
        await auditIn(trx)(auditOfSeed(recorded, reason));
        return recorded;
      });
      output.emit({ event: 'seeded', ...seeded });
      output.print(renderSeeded(seeded, output.terminal));
    }
    if (accountId === null) {
      output.print('No run has posted from this data folder yet, so there is nothing to recover.');
      return EXIT.ok;
    }
    await bindAccount(db, accountId);
    await ensureLedgerId(db);
    const decision = {
      ...compared,
      ...{ accountId, reason, decidedBy, acceptsUndescribed: options.acceptUndescribed === true },
    };
    const recovered = await inTransaction(db, async (trx) => {
      const found = await recoverLedger(trx, decision);
      const { claims, accepted, inDoubt, notProcessed } = found;
      await auditIn(trx)({
        ...{ action: 'recover_ledger', subjectKind: 'ledger', subject: accountId, reason },
        summary: `Recovered ${plural(claims, 'claim')} that the database had lost.`,
        after: { accepted, in_doubt: inDoubt, not_processed: notProcessed },
      });
      return found;
    });
    // Answers that a process had received before it found that the database had changed.
    const spooled = await replaySpool(db, spoolFolder({ config }), '');
    const after = explainContinuity((await compare(db, { config, accountId })).continuity, config);
    output.emit({ event: 'ledger_recovered', ...recovered, spooled: spooled.answers });
    output.print(renderRecovered(recovered));
    if (after === null) return EXIT.ok;
    throw after;
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
