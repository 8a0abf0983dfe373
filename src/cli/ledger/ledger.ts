import type { Seeded } from '../../core/backfill.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import { formatAmounts } from '../../core/money.ts';
import type { Database } from '../../db/connect.ts';
import type { Recovered } from '../../ledger/continuity/recover.ts';
import { formatCount, plural } from '../../render/text.ts';
import { defineCommand, parseId } from '../command.ts';
import type { Output } from '../terminal/output.ts';

const seedCommand = defineCommand({
  name: 'seed',
  decides: { says: 'how you know', kept: 'with the decision' },
  description: 'record a file of orders that were credited elsewhere, so that they are not posted',
  takes: [['<file>', 'CSV with order_platform,order_id[,amount,currency,deal_id,collab_id,reason]']],
  /**
   * Records a file of orders that were credited elsewhere. If this project has posted some of them too, the
   * exit code is 3.
   */
  async action({ output, open }, { file: path, reason }) {
    const { recordList } = await import('./seed-orders.ts');
    const { config, decide } = await open();
    const seeded = await decide((trx) => recordList(trx, { config, path, reason }));
    await showSeeded(output, seeded);
    return seeded.untouched.length === 0 ? EXIT.ok : EXIT.rowsRejected;
  },
});

const seedsCommand = defineCommand({
  name: 'seeds',
  description: 'list the recorded files',
  async action({ output, open }) {
    const { listSeeds } = await import('../../ledger/seed.ts');
    const { describeSeeds } = await import('../../reports/seeds.ts');
    const { read } = await open();
    const seeds = await read(listSeeds);
    for (const seed of seeds) output.emit({ event: 'seed', ...seed });
    output.show(describeSeeds(seeds));
  },
});

const unseedCommand = defineCommand({
  name: 'unseed',
  decides: { says: 'why', kept: 'with the decision' },
  description: 'withdraw a file; this is recorded as a decision',
  takes: [['<id>', 'number of the seed, as `ledger seeds` shows it', parseId]],
  async action({ output, open }, { id: seedId, reason }) {
    const { unseedOrders } = await import('./seed-orders.ts');
    const { decide } = await open();
    const undone = await decide(async (trx, { decidedBy, audit }) => {
      const taken = await unseedOrders(trx, { seedId, reason, undoneBy: decidedBy });
      const summary = `Withdrew seed ${seedId}.`;
      if (taken.kind === 'undone')
        await audit({
          action: 'withdraw_seed',
          subjectKind: 'seed',
          subject: seedId,
          summary,
          reason,
          after: { orders: taken.orders },
        });
      return taken;
    });
    if (undone.kind !== 'undone') {
      const isUnknown = undone.kind === 'unknown';
      throw refusal({
        code: isUnknown ? 'seed_not_found' : 'seed_undone',
        message: isUnknown ? `There is no seed ${seedId}.` : `Seed ${seedId} was already withdrawn.`,
        help: 'npx influencer-sync ledger seeds lists them.',
      });
    }
    output.emit({ event: 'unseeded', seedId, orders: undone.orders });
    output.print(
      `Seed ${seedId} no longer counts: the next run decides about its ${plural(undone.orders, 'order')} again.`,
    );
  },
});

const recoverCommand = defineCommand({
  name: 'recover',
  decides: { says: 'what happened', kept: 'with the decision' },
  description:
    'continue with a database that was restored, failed over or replaced: the orders that it lost are not posted again',
  takes: [
    ['--from <file>', 'list of orders that the service has, in the format of `ledger seed`'],
    [
      '--accept-undescribed',
      'give up claims that no journal on this machine describes: their orders may be posted again',
    ],
  ],
  /**
   * Makes a database usable again that lost claims of this data folder. It records the lost claims as accepted,
   * in doubt or not processed, and the list of the service if one is given, in one transaction: all of it, or nothing. Running
   * it again is harmless.
   * @returns 0 if runs can continue.
   */
  async action({ output }, options) {
    const { openConfig, withDatabase, withMigratedDatabase } = await import('../open/open-config.ts');
    const { recordList } = await import('./seed-orders.ts');
    const { listenForStop } = await import('../terminal/listen-for-stop.ts');
    const { auditIn, readOperator } = await import('../terminal/read-operator.ts');
    const { inTransaction, unlessDryRun } = await import('../../db/in-transaction.ts');
    const { bindAccount } = await import('../../ledger/open-account.ts');
    const { ensureLedgerId } = await import('../../ledger/continuity/identity.ts');
    const { recoverLedger } = await import('../../ledger/continuity/recover.ts');
    const { compare } = await import('../../ledger/continuity/compare-ledger.ts');
    const { spoolFolder } = await import('../../ledger/sending/recover-previous-runs.ts');
    const { replaySpool } = await import('../../ledger/spool.ts');
    const config = await openConfig(options);
    const { reason } = options;
    const decidedBy = readOperator();
    const progress = output.createProgress();
    const stopping = listenForStop(output);
    const isDryRun = options.dryRun === true;
    const work = async (db: Database): Promise<ExitCode> => {
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
          folders,
          machineId,
          isShared,
          accountId,
          reason,
          decidedBy,
          acceptsUndescribed,
        });
        const { claims, accepted, inDoubt, notProcessed } = found;
        await auditIn(trx)({
          action: 'recover_ledger',
          subjectKind: 'ledger',
          subject: accountId,
          reason,
          summary: `Recovered ${plural(claims, 'claim')} that the database had lost.`,
          after: { accepted, in_doubt: inDoubt, not_processed: notProcessed },
        });
        return { seeded: list, recovered: found };
      });
      if (seeded !== null) await showSeeded(output, seeded);
      if (recovered === null) {
        output.print('No run has posted from this data folder yet, so there is nothing to recover.');
        return EXIT.ok;
      }
      if (isDryRun) {
        output.emit({ event: 'ledger_recovered', ...recovered, dryRun: true });
        output.print(renderRecovered(recovered));
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
    };
    if (isDryRun) output.print('Dry run: what follows is not done.');
    const recovering = isDryRun
      ? withDatabase(config, (db) => unlessDryRun(db, true, work), { onLost: () => {} })
      : withMigratedDatabase(config, { progress, stopping }, work);
    return recovering.finally(() => stopping.ignore());
  },
});

const moveCommand = defineCommand({
  name: 'move',
  decides: { says: 'why', kept: 'with the decision' },
  description: 'move the embedded database of the data folder to the empty server that DATABASE_URL names',
  /** Moves the ledger, with everything else in the embedded database. */
  async action({ output }, options) {
    const { openConfig } = await import('../open/open-config.ts');
    const { listenForStop } = await import('../terminal/listen-for-stop.ts');
    const { moveLedger } = await import('./move-ledger.ts');
    const config = await openConfig(options);
    const { reason } = options;
    const progress = output.createProgress();
    const stopping = listenForStop(
      output,
      'The move stops, unless the embedded database is closed already: then it ends in a moment. Press Ctrl-C again to stop at once; the same command finishes the move.',
    );
    const isDryRun = options.dryRun === true;
    const moving = moveLedger(config, { reason, isDryRun, progress, stopping });
    const moved = await moving.finally(() => stopping.ignore());
    output.emit({ event: 'ledger_moved', ...moved, ...(isDryRun ? { dryRun: true } : {}) });
    if (isDryRun) {
      output.print(
        `Would move ledger ${moved.ledger}, and close its embedded database. Nothing was changed.`,
      );
      return;
    }
    output.print(
      moved.rows === null
        ? `An earlier attempt has already moved ledger ${moved.ledger}. Its embedded database is closed.`
        : `Moved ledger ${moved.ledger}: ${plural(moved.rows, 'row')}. The embedded database is closed and stays as it is; keep the data folder, which has the journals.`,
    );
  },
});

/**
 * `influencer-sync ledger`: records what the ledger cannot know: orders that were credited elsewhere, and
 * claims that the database lost.
 */
export const ledgerCommand = defineCommand({
  name: 'ledger',
  summary: 'record orders credited elsewhere; recover or move a database',
  description:
    'record orders that were credited elsewhere, recover claims that a restored database lost, or move to a server',
  readsConfig: false,
  examples: [
    [
      "ledger seed credited-in-2023.csv --reason 'by the shop integration'",
      'columns: order_platform,order_id and, optionally, amount,currency,deal_id,collab_id,reason',
    ],
    ['ledger seeds', 'the recorded files'],
    [
      "ledger recover --reason 'restored the backup of 2 May'",
      'record the orders posted since then as accepted or in doubt; then runs continue',
    ],
    [
      "ledger unseed 3 --reason 'the wrong file'",
      'withdraw a file: the next run decides about its orders again',
    ],
  ],
  commands: [seedCommand, seedsCommand, unseedCommand, recoverCommand, moveCommand],
});

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

async function showSeeded(output: Output, seeded: Seeded): Promise<void> {
  const { describeSeeded } = await import('../../reports/seeds.ts');
  output.emit({ event: 'seeded', ...seeded });
  output.show(describeSeeded(seeded));
}
