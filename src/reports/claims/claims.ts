import { addUp, formatAmounts, formatKnown, formatMoney, type Money } from '../../core/money.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import type { Database } from '../../db/connect.ts';
import { type ClaimFilter, type KeptClaim, listClaims } from '../../money/claims/keep-claims.ts';
import {
  type Block,
  column,
  item,
  number,
  type Part,
  say,
  section,
  type Table,
  type Tone,
  table,
  whole,
} from '../../render/block.ts';
import { renderTableCsv } from '../../render/csv.ts';
import { formatCount, plural } from '../../render/text.ts';
import { answerClaims, type ClaimAnswer, type ClaimAnswerKind, type ClaimRules } from './answer-claims.ts';

/** A claim with its answer: the one that was given, or while it is open the one that it has now. */
export type AnsweredClaim = KeptClaim & { readonly answer: ClaimAnswer };

/** Lists claims with their answers. */
export async function readClaims(
  db: Database,
  filter: ClaimFilter,
  rules: ClaimRules,
): Promise<readonly AnsweredClaim[]> {
  const claims = await listClaims(db, filter);
  const open = claims.filter(({ given }) => given === null);
  const decided = new Map(
    (await answerClaims(db, open, rules)).map((answer, index) => [open[index]?.claimId, answer]),
  );
  return claims.map((claim) => {
    const answer = decided.get(claim.claimId);
    if (answer !== undefined) return { ...claim, answer };
    if (claim.given === null) throw new Error(`claim ${claim.claimId} has no answer`);
    const kind = claim.given.kind as ClaimAnswerKind;
    return { ...claim, answer: { ...claim.given, kind, next: null } };
  });
}

/** Whether a claim is open and the day by which it was to be answered is over. @param today as `dayIn` returns it. */
export function isOverdue(
  { state, deadline }: Pick<KeptClaim, 'state' | 'deadline'>,
  today: string,
): boolean {
  return state === 'open' && deadline !== null && deadline < today;
}

/** What an answer means, and its colour, in the order in which they are listed: those that a person can do something about first. */
export const CLAIM_ANSWERS: Readonly<Record<ClaimAnswerKind, { label: string; tone: Tone }>> = {
  in_doubt: { label: 'In doubt at the service', tone: 'red' },
  held: { label: 'Held', tone: 'yellow' },
  code_unknown: { label: 'Code unknown', tone: 'yellow' },
  code_not_valid: { label: 'Code not valid on that day', tone: 'yellow' },
  refused: { label: 'Refused by the service', tone: 'yellow' },
  credit_in_question: { label: 'Credited, and changed since', tone: 'yellow' },
  owner_unknown: { label: 'Creator unknown', tone: 'yellow' },
  similar_id: { label: 'Similar id', tone: 'yellow' },
  candidates: { label: 'Candidates by amount and day', tone: 'yellow' },
  several_orders: { label: 'Several orders have the id', tone: 'yellow' },
  row_rejected: { label: 'In a rejected row', tone: 'yellow' },
  day_not_exported: { label: 'Exports of that day are not complete', tone: 'yellow' },
  not_sent: { label: 'Not sent', tone: 'yellow' },
  written_off: { label: 'Written off', tone: 'dim' },
  waiting: { label: 'Not posted yet', tone: 'yellow' },
  credited: { label: 'Credited', tone: 'green' },
  no_longer_counted: { label: 'Credited, and does not count any more', tone: 'dim' },
  credited_to_another: { label: 'Credited to another creator', tone: 'dim' },
  excluded: { label: 'Excluded', tone: 'dim' },
  no_code: { label: 'No code or link of the creator', tone: 'dim' },
  not_in_exports: { label: 'Not in any export', tone: 'dim' },
};
const KINDS = Object.keys(CLAIM_ANSWERS) as ClaimAnswerKind[];

/** What a claim is about, in a few words: `order 5601`, or `45.00 EUR on 2026-04-10`. */
export function subjectOf({ orderId, amount, currency, day, code }: KeptClaim): string {
  const what = orderId === null ? `${formatKnown(amount, currency)} on ${day ?? ''}` : `order ${orderId}`;
  return code === null ? what : `${what}, code ${code}`;
}

/** Claims by what they are answered, with the amounts that they state. */
export type ClaimSum = {
  readonly kind: ClaimAnswerKind;
  readonly claims: number;
  /** One sum a currency. */
  readonly amounts: readonly Money[];
  /** Claims that state no amount, so the sums are "at least". */
  readonly withoutAmount: number;
};

export function sumClaims(claims: readonly AnsweredClaim[]): readonly ClaimSum[] {
  return KINDS.flatMap((kind) => {
    const own = claims.filter(({ answer }) => answer.kind === kind);
    // An order that is claimed by its id and by its name, or by handle and by deal, counts once.
    const orders = [...Map.groupBy(own, orderOf).values()];
    const stated = orders.flatMap((claims) => amountOf(claims) ?? []);
    const amounts = [...Map.groupBy(stated, ({ currency }) => currency).values()].map(addUp);
    return own.length === 0
      ? []
      : [{ kind, claims: own.length, amounts, withoutAmount: orders.length - stated.length }];
  });
}

/** The amount of one order, as one of its claims states it, or as it was credited. */
function amountOf(claims: readonly AnsweredClaim[]): Money | null {
  const stated = claims.find(({ amount }) => amount !== null);
  if (stated !== undefined && stated.amount !== null)
    return { amount: stated.amount, currency: stated.currency };
  return claims.find(({ answer }) => answer.credited !== null)?.answer.credited ?? null;
}

/** What a claim is about: the order that was found, and otherwise the claim itself. */
function orderOf({ claimId, answer: { order } }: AnsweredClaim): string {
  return order === null ? claimId : JSON.stringify([order.source, order.orderId]);
}

/** Claims by what they are answered, as a table. */
export function sumsTable(claims: readonly AnsweredClaim[]): Table {
  return table(sumClaims(claims), [
    column('answer', ({ kind }) => CLAIM_ANSWERS[kind].label),
    number('claims', (sum) => formatCount(sum.claims)),
    number('amount', ({ amounts, withoutAmount }) =>
      amounts.length === 0 ? 'unknown' : `${withoutAmount > 0 ? 'at least ' : ''}${formatAmounts(amounts)}`,
    ),
  ]);
}

/** Describes claims for people of the brand: the totals, then each claim with its proof and the next step. */
export function describeClaims(claims: readonly AnsweredClaim[]): readonly Block[] {
  if (claims.length === 0) return [say('There is no such claim.')];
  const creators = [...new Set(claims.flatMap(({ state, creator }) => (state === 'open' ? [creator] : [])))];
  return [
    ...section('Claims', { note: plural(claims.length, 'claim'), parts: sumsTable(claims) }),
    ...KINDS.flatMap((kind) => {
      const own = claims.filter(({ answer }) => answer.kind === kind);
      const { label, tone } = CLAIM_ANSWERS[kind];
      return own.length === 0
        ? []
        : section(label, {
            count: own.length,
            tone,
            parts: [...Map.groupBy(own, orderOf).values()].flatMap(describeSame),
          });
    }),
    ...(creators.length === 0
      ? []
      : [
          say('A claim credits nothing by itself.', {
            tone: 'dim',
            commands: {
              about: 'to answer the creator, which keeps the final answers',
              lines: [`npx influencer-sync claims reply --creator <handle>`],
            },
          }),
        ]),
  ];
}

function describeSame(claims: readonly AnsweredClaim[]): readonly Part[] {
  const [first] = claims;
  return claims.map((claim) =>
    describeClaim(claim, claim === first ? '' : ` It is the order of claim ${first?.claimId}, too.`),
  );
}

function describeClaim(claim: AnsweredClaim, also: string): Part {
  const { claimId, creator, state, deadline, answer } = claim;
  const due = state === 'open' && deadline !== null ? `, due ${deadline}` : '';
  return item(
    `${claimId} (${state}${due}) ${creator}: ${subjectOf(claim)}\n${answer.text}${also}`,
    answer.next?.command ?? null,
  );
}

/** The answers to one creator, as blocks: no other creator, no name of an operator. */
export function describeReply(claims: readonly AnsweredClaim[]): readonly Block[] {
  return [
    ...section('Summary', { parts: sumsTable(claims) }),
    ...section('Your claims', {
      parts: table(claims, [
        whole('claim', ({ claimId }) => claimId),
        whole('order', ({ orderId }) => orderId),
        number('amount', ({ amount, currency }) => (amount === null ? '' : formatMoney(amount, currency))),
        whole('day', ({ day }) => day),
        column('code', ({ code }) => code),
        column('answer', ({ answer }) => CLAIM_ANSWERS[answer.kind].label),
        // Whole sentences: a table that is too wide becomes a list, in which they wrap.
        whole('explanation', ({ answer }) => answer.reply),
      ]),
    }),
  ];
}

/** The same as CSV for a spreadsheet. */
export function renderReplyCsv(claims: readonly AnsweredClaim[]): string {
  return renderTableCsv(
    'claim,state,order_id,amount,currency,day,code,answer,explanation,credited_amount,credited_currency,statement,answered_at'.split(
      ',',
    ),
    claims.map((claim) => [
      ...[claim.claimId, claim.state, claim.orderId ?? '', claim.amount ?? '', claim.currency ?? ''],
      ...[claim.day ?? '', claim.code ?? '', claim.answer.kind, claim.answer.reply],
      ...[claim.answer.credited?.amount ?? '', claim.answer.credited?.currency ?? ''],
      ...[claim.answer.statementMonth ?? '', claim.answeredAt === null ? '' : formatMinute(claim.answeredAt)],
    ]),
  );
}
