import { databasePlace, journalFolder } from '../config/locate.ts';
import type { PipelineConfig } from '../core/config.ts';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import { formatAmounts } from '../core/money.ts';
import type { Progress } from '../core/progress.ts';
import { formatInstant } from '../core/text/format-instant.ts';
import type { Database } from '../db/connect.ts';
import type { Run, RunOptions } from '../ops/run.ts';
import type { Client } from '../service/client.ts';
import { bindAccount, boundAccount } from './bind-account.ts';
import { beginAuditedLedger } from './continuity/begin-audited-ledger.ts';
import { type Continuity, type ContinuityOptions, checkContinuity } from './continuity/check-continuity.ts';
import { ensureLedgerId, readLedgerId, shortLedgerId } from './continuity/identity.ts';
import { type Journal, openJournal } from './continuity/journal.ts';
import type { ClaimPlace } from './continuity/journal-lines.ts';
import { keepPlace, readMachineId, registerMachine } from './continuity/machines.ts';
import type { Mark } from './continuity/mark.ts';
import { identifyAccount } from './open-account.ts';
import {
  beginRecord,
  comparedFolders,
  describeBlindness,
  describeJournals,
  openMark,
  ownJournalFolders,
} from './sending/journal-places.ts';

/** The ledger of a run, once it was verified to contain everything that was posted before. */
export type OpenLedger = {
  readonly accountId: string;
  readonly ledgerId: string;
  /** Claims that the database must still have at the next claim. Updated when a journal is closed. */
  heads(): readonly ClaimPlace[];
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
  await keepPlace(db);
  options.onTarget?.({
    service: config.api.url,
    accountId,
    ledger: `${databasePlace(config.database)} (${shortLedgerId(ledgerId)})`,
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

/**
 * Verifies the ledger for a plan. If the ledger is not bound to an account yet, everything that was posted
 * from here counts.
 *
 * @throws KnownError (exit 7) like `openLedger`.
 */
export async function requireContinuityOfPlan(options: LedgerOptions): Promise<void> {
  await requireContinuity(options, await boundAccount(options.db));
}

/** Applies `--new-ledger`: claims of another ledger no longer count. Does not excuse claims that were lost. */
async function decideNewLedger(
  { db, config, progress, options }: LedgerOptions,
  accountId: string,
): Promise<void> {
  const { newLedger = null } = options;
  if (newLedger === null) return;
  const { continuity, ...compared } = await compare(db, { config, accountId });
  if (continuity.kind !== 'went_back' || !continuity.isOther) return;
  await bindAccount(db, accountId);
  const claims = await beginAuditedLedger(db, { ...compared, accountId, ...newLedger });
  progress.note(`This run starts a new ledger. ${claims} claims of another ledger do not count in it.`);
}

async function requireContinuity(options: LedgerOptions, accountId: string | null): Promise<Continuity> {
  const { db, config, progress } = options;
  const { continuity } = await compare(db, { config, accountId });
  const problem = explainContinuity(continuity, config);
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

/** The problem that keeps every run of this configuration from posting. Null if there is none. */
export async function findContinuityProblem(
  db: Database,
  config: PipelineConfig,
): Promise<KnownError | null> {
  const accountId = await boundAccount(db);
  try {
    return explainContinuity((await compare(db, { config, accountId })).continuity, config);
  } catch (error) {
    if (error instanceof KnownError) return error;
    throw error;
  }
}

/** The result of comparing the database with the journals, and where the journals are. */
export type Comparison = Pick<ContinuityOptions, 'folders' | 'machineId' | 'isShared'> & {
  readonly continuity: Continuity;
};

/**
 * Compares the database with the journals of this machine and those of the mark. Reads only the newest
 * journals of the mark, unless the database lacks claims or has moved. In that case, reads all of them and
 * includes them in `folders`.
 *
 * @throws KnownError `mark_unavailable`.
 */
export async function compare(
  db: Database,
  { config, accountId }: { readonly config: PipelineConfig; readonly accountId: string | null },
): Promise<Comparison> {
  const mark = openMark(config);
  const local = journalFolder(config.database);
  const here = comparedFolders(config, await readLedgerId(db));
  const folders = mark === null ? here : [...here, await mark.fetch({ all: false })];
  const newest = { folders, machineId: readMachineId(local), isShared: false };
  const continuity = await checkContinuity(db, { ...newest, accountId });
  const isEnough = mark === null || continuity.kind === 'continuous' || continuity.kind === 'unmarked';
  if (isEnough) return { ...newest, continuity };
  await mark.fetch({ all: true });
  const all = { ...newest, isShared: true };
  return { ...all, continuity: await checkContinuity(db, { ...all, accountId }) };
}

/** Explains why nothing may be posted, and what to do. Null if the ledger is continuous. */
export function explainContinuity(continuity: Continuity, config: PipelineConfig): KnownError | null {
  if (continuity.kind === 'undescribed') return incomplete(continuity.claims);
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
    message: `This is another ledger: ${place} holds ${now}${newest === null ? '' : ` with ${newest.claims} claims`}, but ledger ${shortLedgerId(markedLedgerId)} has posted from here. The database lacks ${describeMissing(missing)}.`,
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

function incomplete(claims: number): KnownError {
  return new KnownError({
    code: 'ledger_incomplete',
    message: `The ledger was recovered, but ${claims} claims are still missing that no journal on this machine describes.`,
    help: `Run this on every other machine that posts for this account, with its own data folder:\n  ${RECOVER}\nIf their journals are lost, give up these claims. Their orders may then be posted again:\n  ${RECOVER} --accept-undescribed`,
    safe: SAFE,
    exitCode: EXIT.ledgerWentBack,
  });
}

/** `295 orders (12,345.60 EUR), posted between … and …; the service accepted 290 of them`. */
function describeMissing({ entries, accepted, amounts, from, to }: WentBack['missing']): string {
  if (entries === 0) return 'claims, none of which was sent';
  const money = formatAmounts(amounts);
  const when = from === null || to === null ? '' : `, posted between ${timeOf(from)} and ${timeOf(to)}`;
  const count = entries === 1 ? '1 order' : `${entries} orders`;
  return `${count}${money === '' ? '' : ` (${money})`}${when}; the service accepted ${accepted} of them`;
}

function timeOf(at: Date): string {
  return `${formatInstant(at)} UTC`;
}
