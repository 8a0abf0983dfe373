import { attributionJobs } from '../../jobs/attribute-orders/settings.ts';
import type { PipelineConfig } from '../config/schema.ts';
import { KnownError } from '../core/known-error.ts';
import { plural } from '../core/text/plural.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import {
  type ClaimState,
  type InsertedClaims,
  insertClaims,
  keepAnswers,
  lockClaim,
  setClaimState,
} from '../money/claims/keep-claims.ts';
import type { ClaimLine } from '../money/claims/parse-claims.ts';
import { loadStatementRules } from '../money/load-rules.ts';
import type { StatementRules } from '../money/statement.ts';
import type { Decided } from '../ops/record-audit.ts';
import { answerClaims, type ClaimRules, FINAL_ANSWERS } from '../reports/claims/answer-claims.ts';
import { type AnsweredClaim, readClaims } from '../reports/claims/claims.ts';

/*
 * What people do with claims that orders were not credited. None of it credits an order: an answer names the act, such as
 * assigning a code, which passes the same gate as every order. Commands and the console both call these functions.
 */

/** What answers depend on: the sources of jobs that credit orders, the zone of days, and what orders earn. */
export function claimRulesOf({ jobs, statements }: PipelineConfig): ClaimRules {
  const sources = new Set(attributionJobs({ jobs }).flatMap((job) => job.sources));
  let loaded: StatementRules | null = null;
  const statementRules = () => {
    try {
      loaded ??= loadStatementRules(statements);
    } catch (error) {
      // Claims are answered beside a terms.csv with mistakes.
      if (!(error instanceof KnownError)) throw error;
      loaded = null;
    }
    return loaded;
  };
  return { sources: [...sources], timeZone: statements.timeZone, statementRules };
}

/** Adds claims, with an audit record. @param options.file name of the file; null for the form of the console. */
export async function addClaims(
  trx: DatabaseTransaction,
  {
    lines,
    file,
    deadline,
    reason,
    unusable = [],
    decidedBy,
    audit,
  }: Decided & {
    readonly lines: readonly ClaimLine[];
    readonly file: string | null;
    readonly deadline: string | null;
    readonly reason: string | null;
    /** What is wrong with lines that are not among them, for the summary. */
    readonly unusable?: readonly string[];
  },
): Promise<InsertedClaims> {
  const inserted = await insertClaims(trx, { lines, file, deadline, addedBy: decidedBy });
  const { added, completed, contradictions } = inserted;
  const known = lines.length - added.length;
  const more =
    completed.length + contradictions.length === 0
      ? ''
      : ` They completed ${plural(completed.length, 'claim')}, and ${plural(contradictions.length, 'value')} that an open claim states otherwise ${contradictions.length === 1 ? 'was' : 'were'} not taken.`;
  await audit({
    action: 'add_claims',
    subjectKind: 'claim',
    subject: null,
    reason,
    summary: `Added ${plural(added.length, 'claim')}; ${plural(known, 'line')} ${known === 1 ? 'was' : 'were'} known already.${more}${unusable.length === 0 ? '' : ` These lines were not added. ${unusable.join(' ')}`}`,
    after: { added: added.length, known, completed },
  });
  return inserted;
}

/**
 * Gives one creator the answers to all claims. Those that are final are kept; a claim whose answer waits for something
 * stays open, and gets another answer later.
 * @returns all claims of the creator that are not withdrawn; null: there is none.
 */
export async function answerCreator(
  trx: DatabaseTransaction,
  {
    creator,
    reason = null,
    rules,
    decidedBy,
    audit,
  }: Decided & { readonly creator: string; readonly reason?: string | null; readonly rules: ClaimRules },
): Promise<readonly AnsweredClaim[] | null> {
  const open = await readClaims(trx, { creator, state: 'open' }, rules);
  const final = open.filter(({ answer }) => FINAL_ANSWERS.includes(answer.kind));
  await keepAnswers(
    trx,
    final.map(({ claimId, answer }) => ({ claimId, ...answer })),
    decidedBy,
  );
  const claims = await readReply(trx, creator, rules);
  if (claims.length === 0) return null;
  await audit({
    action: 'answer_claims',
    subjectKind: 'claim',
    subject: null,
    reason,
    summary: `Answered ${plural(final.length, 'claim')} of a creator. Still open, because their answers wait for something: ${open.length - final.length}.`,
    after: { answered: final.map(({ claimId }) => claimId) },
  });
  return claims;
}

/** Reads the answers for a creator: those that were given, and what is said of open claims now. */
export async function readReply(
  db: Database,
  creator: string,
  rules: ClaimRules,
): Promise<readonly AnsweredClaim[]> {
  const claims = await readClaims(db, { creator }, rules);
  return claims.filter(({ state }) => state !== 'withdrawn').toReversed();
}

export type ClaimClosing =
  | { readonly kind: 'closed' }
  | { readonly kind: 'missing' }
  /** The claim is in this state already. */
  | { readonly kind: 'same' };

/** Upholds, rejects or withdraws a claim, or opens it again. The answer that it has now is kept with it. */
export async function closeClaim(
  trx: DatabaseTransaction,
  {
    claimId,
    state,
    reason,
    rules,
    decidedBy,
    audit,
  }: Decided & {
    readonly claimId: string;
    readonly state: Exclude<ClaimState, 'answered'>;
    readonly reason: string;
    readonly rules: ClaimRules;
  },
): Promise<ClaimClosing> {
  const claim = await lockClaim(trx, claimId);
  if (claim === null) return { kind: 'missing' };
  if (claim.state === state) return { kind: 'same' };
  if (claim.state === 'open' && state !== 'withdrawn') {
    const [answer] = await answerClaims(trx, [claim], rules);
    if (answer !== undefined) await keepAnswers(trx, [{ claimId, ...answer }], decidedBy);
  }
  await setClaimState(trx, { claimId, state, by: decidedBy, reason });
  await audit({
    action: 'close_claim',
    subjectKind: 'claim',
    subject: claimId,
    reason,
    summary: `Claim ${claimId} is ${state}.`,
    before: { state: claim.state },
    after: { state },
  });
  return { kind: 'closed' };
}
