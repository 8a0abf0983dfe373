import { join } from 'node:path';
import { journalFolder } from '../../config/locate.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { formatAmounts } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { plural } from '../../core/text/plural.ts';
import type { Database } from '../../db/connect.ts';
import { hasTable } from '../../db/has-table.ts';
import { readMoved } from '../../db/move/closed-database.ts';
import { boundAccount } from '../open-account.ts';
import { type Continuity, type ContinuityOptions, checkContinuity } from './check-continuity.ts';
import { readLedgerId, shortLedgerId } from './identity.ts';
import { comparedFolders, describeJournals, openMark, ownJournalFolders } from './journal-places.ts';
import { readMachineId } from './machines.ts';

/**
 * Whatever writes decisions asks this first: on a database that lost claims they would be about another state, and be lost
 * with it.
 *
 * @throws KnownError `mark_unavailable`, or what keeps every run from posting (exit 7).
 */
export async function requireWholeLedger(db: Database | null, config: PipelineConfig): Promise<void> {
  const { problem } = await compare(db, { config });
  if (problem !== null) throw problem;
}

/** The problem that keeps every run of this configuration from posting. Null if there is none. */
export async function findContinuityProblem(
  db: Database,
  config: PipelineConfig,
): Promise<KnownError | null> {
  try {
    return (await compare(db, { config })).problem;
  } catch (error) {
    if (error instanceof KnownError) return error;
    throw error;
  }
}

/** The result of comparing the database with the journals, and where the journals are. */
export type Comparison = Pick<ContinuityOptions, 'folders' | 'machineId' | 'isShared'> & {
  /** The account whose claims were compared. Null if it is not known: all claims were. */
  readonly accountId: string | null;
  readonly continuity: Continuity;
  /** Why nothing may be posted, and what to do (exit 7). Null if the ledger is continuous. */
  readonly problem: KnownError | null;
};

/**
 * Compares the database with the journals of this machine and those of the mark. Whoever asks whether the ledger lost claims
 * asks here. Reads only the newest journals of the mark, unless the database lacks claims or has moved. In that case, reads
 * all of them and includes them in `folders`.
 *
 * @param db null if the database does not exist. It then lacks every claim that was made, as one without tables does.
 * @param options.accountId account whose claims count. Without it, that of the database; all if it is not bound yet.
 * @throws KnownError `mark_unavailable`.
 */
export async function compare(
  db: Database | null,
  { config, accountId: given }: { config: PipelineConfig; accountId?: string | undefined },
): Promise<Comparison> {
  const known = db !== null && (await hasTable(db, 'ledger.machines')) ? db : null;
  const accountId = given ?? (known === null ? null : await boundAccount(known));
  const machineId = readMachineId(journalFolder(config.database));
  const mark = openMark(config);
  const ledgerId = known === null ? null : await readLedgerId(known);
  const here = comparedFolders(config, ledgerId);
  const stale = findStaleCopy(config, ledgerId);
  const folders = mark === null ? here : [...here, await mark.fetch({ all: false })];
  const check = async (isShared: boolean): Promise<Comparison> => {
    const compared = { folders, machineId, isShared, accountId };
    const continuity = await checkContinuity(known, compared);
    return { ...compared, continuity, problem: stale ?? explainContinuity(continuity, config) };
  };
  const newest = await check(false);
  if (mark === null || newest.problem === null) return newest;
  await mark.fetch({ all: true });
  return check(true);
}

/**
 * The problem of an embedded database that an older copy of the data folder brought back after the ledger was moved to a
 * server: it lacks only claims that are nowhere on this machine.
 */
function findStaleCopy(config: PipelineConfig, ledgerId: string | null): KnownError | null {
  if (config.database.url !== '' || ledgerId === null || readMoved(config.database.dataFolder) !== null)
    return null;
  const { copyFolder } = ownJournalFolders(config, ledgerId);
  const moved = copyFolder === null ? null : readMoved(copyFolder);
  if (copyFolder === null || moved === null) return null;
  return new KnownError({
    code: 'ledger_on_server',
    message: `This embedded database is an older copy: its ledger was moved to a server (${moved}).`,
    where: `ledger ${shortLedgerId(ledgerId)}, ${join(copyFolder, 'moved')}`,
    help: 'Set DATABASE_URL to that server. Remove this file only if you are sure that the server does not have the ledger.',
    safe: SAFE,
    exitCode: EXIT.ledgerWentBack,
  });
}

/** Explains why nothing may be posted, and what to do. Null if the ledger is continuous. */
function explainContinuity(continuity: Continuity, config: PipelineConfig): KnownError | null {
  if (continuity.kind === 'undescribed')
    return new KnownError({
      code: 'ledger_incomplete',
      message: `The ledger was recovered, but ${plural(continuity.claims, 'claim is', 'claims are')} still missing that no journal on this machine describes.`,
      help: `Run this on every other machine that posts for this account, with its own data folder:\n  ${RECOVER}\nIf their journals are lost, give up these claims. Their orders may then be posted again:\n  ${RECOVER} --accept-undescribed`,
      safe: SAFE,
      exitCode: EXIT.ledgerWentBack,
    });
  if (continuity.kind === 'moved') return moved(continuity, config);
  if (continuity.kind !== 'went_back') return null;
  return continuity.isOther ? swapped(continuity, config) : wentBack(continuity, config);
}

type WentBack = Extract<Continuity, { readonly kind: 'went_back' }>;

const SAFE = 'Nothing was read or sent.';
const RECOVER = "npx influencer-sync ledger recover --reason '…'";

function wentBack({ missing, newest, mark, ledgerId }: WentBack, config: PipelineConfig): KnownError {
  const until =
    newest === null
      ? 'has no claim at all'
      : `ends with claim ${newest.claimNo} of ${timeOf(newest.claimedAt)}`;
  return new KnownError({
    code: 'ledger_went_back',
    message: `The ledger lost claims. The database ${until}, but this machine made claims up to ${mark.claimNo}. The database lacks ${describeMissing(missing)}.`,
    where: `ledger ${shortLedgerId(ledgerId ?? '')}, journal ${mark.file} in ${describeJournals(config)}`,
    help: `The database was restored from a backup, failed over to a standby that lacked the newest commits, or replaced by an older copy of its data folder. If a newer copy exists, use that copy. Otherwise hold these orders as accepted or in doubt:\n  ${RECOVER}`,
    safe: SAFE,
    exitCode: EXIT.ledgerWentBack,
  });
}

function swapped(
  { missing, markedLedgerId, ledgerId, newest }: WentBack,
  config: PipelineConfig,
): KnownError {
  const isEmbedded = config.database.url === '';
  const place = isEmbedded ? 'the embedded database' : 'this database';
  const now = ledgerId === null ? 'a new ledger' : `ledger ${shortLedgerId(ledgerId)}`;
  const help = [
    isEmbedded
      ? 'Is DATABASE_URL missing? Set it to the database that was used before.'
      : 'Set DATABASE_URL to the database that was used before.',
    `If that database is lost, hold the orders that it posted as accepted or in doubt:\n  ${RECOVER}`,
    "To start a new ledger that may post these orders again:\n  npx influencer-sync run <job> --new-ledger --reason '…'",
  ];
  return new KnownError({
    code: 'ledger_swapped',
    message: `This is another ledger: ${place} holds ${now}${newest === null ? '' : ` with ${plural(newest.claims, 'claim')}`}, but ledger ${shortLedgerId(markedLedgerId)} has posted from here. The database lacks ${describeMissing(missing)}.`,
    where: describeJournals(config),
    help: help.join('\n'),
    safe: SAFE,
    exitCode: EXIT.ledgerWentBack,
  });
}

function moved(
  { others, isUnmarked }: Extract<Continuity, { readonly kind: 'moved' }>,
  config: PipelineConfig,
): KnownError {
  const hosts = others.map(({ host, postedAt }) => `\n  ${host}, which last posted ${timeOf(postedAt)}`);
  const here = isUnmarked ? 'This machine has no journal of it' : 'The journals of this machine lack nothing';
  const elsewhere =
    hosts.length === 0
      ? 'another machine may have posted orders that the database lacks'
      : `${hosts.length === 1 ? 'another machine has' : `${hosts.length} other machines have`} posted to it`;
  const help = [
    `If this is the newest copy of the database, compare it with the journals of this machine${hosts.length === 0 ? ', and of every other machine that has posted to it' : ''}:`,
    `  ${RECOVER}`,
    ...(hosts.length === 0 ? [] : [`and there:${hosts.join('')}`]),
    'If a data folder is lost, give up its claims. Their orders may then be posted again:',
    `  ${RECOVER} --accept-undescribed`,
    'With one ledger.mark_uri for all machines, each run compares automatically.',
  ];
  return new KnownError({
    code: 'ledger_moved',
    message: `The database is not where it was: it was restored, failed over, copied or upgraded. ${here}, and ${elsewhere}.`,
    where: describeJournals(config),
    help: help.join('\n'),
    safe: SAFE,
    exitCode: EXIT.ledgerWentBack,
  });
}

/** `295 orders (12,345.60 EUR), posted between … and …; the service accepted 290 of them`. */
function describeMissing({ entries, accepted, amounts, from, to }: WentBack['missing']): string {
  if (entries === 0) return 'claims, none of which was sent';
  const money = formatAmounts(amounts);
  const when = from === null || to === null ? '' : `, posted between ${timeOf(from)} and ${timeOf(to)}`;
  return `${plural(entries, 'order')}${money === '' ? '' : ` (${money})`}${when}; the service accepted ${accepted} of them`;
}

function timeOf(at: Date): string {
  return `${formatInstant(at)} UTC`;
}
