import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ClaimedEntry } from '../core/ledger.ts';
import { keepsPlan } from '../db/keeps-plan.ts';
import { type Database, rowsOf } from '../db/statement.ts';
import {
  type ClaimEntry,
  type ClaimedRow,
  type ClaimerOptions,
  type Claiming,
  claimSteps,
  readBack,
  sentBody,
  toClaimed,
} from './claim.ts';
import { gather, MAX_ITEMS, oneAtATime } from './group-commit.ts';
import {
  type Answer,
  type AnsweredRow,
  answerSteps,
  durable,
  LedgerWentBack,
  LOST,
  type RecordAnswer,
  type Recorded,
  recordAnswers,
  statesOf,
} from './record.ts';

/**
 * Creates the functions that claim entries (T2) and record answers (T3 to T6). Claims and answers that wait at
 * the same time share one statement and one commit. They are about different entries, and neither is lost if
 * the other is refused:
 *
 * - If the database has lost commits, nothing is claimed, but the answers are recorded.
 * - If the statement fails, its answers are recorded by one of their own. Recording an answer twice is harmless.
 *   The claims are read back by their claim id, because the outcome of the commit may be unknown.
 *
 * When `claim` resolves to an entry, its attempt is durable (`synchronous_commit = on`) and in the journal. Only
 * then may a byte of the request be written. If the claim cannot be read back, `claim` throws, and nothing is
 * sent.
 *
 * Each claim names the claim before it. A database without that previous claim has lost commits, for example
 * after a failover or a restore while this process runs. Then nothing is claimed. So the next claims wait until
 * these are in the journal. Answers do not wait for that, because it may take long if there is a mark.
 *
 * `claim` throws LedgerWentBack if the database has lost commits, and the error of the driver if the claim
 * failed. `record` throws LedgerWentBack if the database no longer has the claim, and the error of the driver.
 * The caller must then spool the answer.
 */
export function createClaimerAndRecorder(
  db: Database,
  options: ClaimerOptions,
): { readonly claim: ClaimEntry; readonly record: RecordAnswer } {
  const claims = gather<string, ClaimedEntry | null>();
  const answers = gather<Answer, Recorded>();
  const body = sentBody(db, options.ledgerId);
  let heads = options.heads;
  let isClaiming = false;

  async function claimed(entryIds: readonly string[], claiming: Claiming, statement: Promise<Rows>) {
    const rows = await statement.then(claimedRows, async (error: unknown) => {
      const committed = await readBack(db, claiming);
      // Without the error, the caller would take the entries for claimed by another process.
      if (committed.length === 0) throw error;
      return committed;
    });
    const entries = rows.map((row) => toClaimed(row, claiming));
    if (entries.length > 0) {
      await options.journal.claimed(entries);
      heads = entries.slice(-1);
    }
    const byId = new Map(entries.map((entry) => [entry.entryId, entry]));
    return entryIds.map((entryId) => {
      const entry = byId.get(entryId);
      byId.delete(entryId);
      return entry ?? null;
    });
  }

  async function commitGroup(): Promise<void> {
    const toClaim = claims.take(isClaiming ? 0 : MAX_ITEMS);
    const toRecord = answers.take(MAX_ITEMS);
    if (toClaim.items.length === 0) {
      await toRecord.settle(recordAnswers(db, toRecord.items, 'direct'));
      return;
    }
    const claiming = { ...options, claimId: randomUUID(), body, heads };
    const statement = claimAndRecord(db, { entryIds: toClaim.items, claiming, answers: toRecord.items });
    isClaiming = true;
    void toClaim.settle(claimed(toClaim.items, claiming, statement)).then(() => {
      isClaiming = false;
      begin();
    });
    const states = statement.then(
      (rows) => statesOf(toRecord.items, rows.filter(isAnswered)),
      () => (toRecord.items.length === 0 ? [] : recordAnswers(db, toRecord.items, 'direct')),
    );
    await toRecord.settle(states);
  }

  const begin = oneAtATime({
    isWaiting: () => answers.size() > 0 || (claims.size() > 0 && !isClaiming),
    work: commitGroup,
  });

  return {
    claim(entryId) {
      const entry = claims.add(entryId);
      begin();
      return entry;
    },
    async record(answer) {
      const recorded = answers.add(answer);
      begin();
      const state = await recorded;
      if (state === LOST) throw new LedgerWentBack();
      return state;
    },
  };
}

/** A claim, an answer, or, if nothing could be claimed, only whether the database has lost commits. */
type Row =
  | (ClaimedRow & { readonly is_continuous: true })
  | { readonly is_continuous: boolean; readonly entry_id: null }
  | (AnsweredRow & { readonly is_continuous: null });
type Rows = readonly Row[];

async function claimAndRecord(
  db: Database,
  group: {
    readonly entryIds: readonly string[];
    readonly claiming: Claiming;
    readonly answers: readonly Answer[];
  },
): Promise<Rows> {
  const { entryIds, claiming, answers } = group;
  // The answers cost a statement something even if there are none.
  const [steps, results] =
    answers.length === 0
      ? [sql``, sql``]
      : [
          sql`, ${answerSteps(answers, 'direct')}`,
          sql`
    union all
    select null, g.entry_id, g.attempt, null, null, null, null, null, null, null, c.state
    from given g left join changed c on c.entry_id = g.entry_id and c.attempt = g.attempt`,
        ];
  return rowsOf<Row>(db)`
    with ${durable}, ${claimSteps(entryIds, claiming)}${steps}
    select c.is_continuous, n.entry_id, n.attempt, n.effect, n.body, n.body_hash, n.claim_no, n.amount,
      n.currency, ledger.key_hash(n.account_id, n.effect, n.key) as key_hash, null as state
    from continuous c left join numbered n on true${results}
    order by claim_no ${keepsPlan}`;
}

/** @throws LedgerWentBack */
function claimedRows(rows: Rows): readonly ClaimedRow[] {
  if (!rows.some((row) => row.is_continuous === true)) throw new LedgerWentBack();
  return rows.filter((row) => row.is_continuous === true && row.entry_id !== null) as readonly ClaimedRow[];
}

function isAnswered(row: Row): row is AnsweredRow & { readonly is_continuous: null } {
  return row.is_continuous === null;
}
