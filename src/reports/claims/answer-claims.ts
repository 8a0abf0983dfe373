import { sql } from 'kysely';
import { formatMoney, type Money } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { foldCode } from '../../core/text/fold.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { foldOrderId, similarId } from '../../core/text/order-key.ts';
import { shellWord } from '../../core/text/printable.ts';
import type { Database } from '../../db/connect.ts';
import type { ClaimLine } from '../../money/claims/parse-claims.ts';
import { markLookAlikes, plural } from '../../render/text.ts';
import { type Answer, answerOrder, decisiveOf, type OrderAnswer } from '../lives/answer-order.ts';
import type { EntryLife } from '../lives/entry-lives.ts';
import { explainOrder, type OrderAttribution, type OrderLife } from '../lives/explain-order.ts';
import { type Claimant, creditedBy, isOf, readClaimant } from './read-claimant.ts';

/*
 * The answer to a claim that an order was not credited. An order that is found gets the answer that `explain` gives,
 * judged for the claimant. Nothing is decided by similarity: candidates are only named. A no needs proof, so an order is
 * "not in any export" only if the exports of its day have arrived whole; otherwise it is unknown.
 */

export type ClaimAnswerKind =
  | Exclude<OrderAnswer['kind'], 'no_owner' | 'undecided'>
  | 'credited_to_another'
  | 'owner_unknown'
  | 'code_unknown'
  | 'code_not_valid'
  | 'several_orders'
  | 'similar_id'
  | 'candidates'
  | 'not_in_exports'
  | 'day_not_exported';

/** Answers that nothing will change but new facts. The others say what is waited for, so their claims stay open. */
export const FINAL_ANSWERS: readonly ClaimAnswerKind[] = [
  'credited',
  'credited_to_another',
  'excluded',
  'code_not_valid',
  'no_code',
  'not_in_exports',
];

export type ClaimAnswer = {
  readonly kind: ClaimAnswerKind;
  /** The answer with its proof, for people of the brand. */
  readonly text: string;
  /** The answer for the creator. It names no other creator, and no order that the claim does not name. */
  readonly reply: string;
  readonly next: Answer['next'];
  /** What was credited to the creator for the order. Null: nothing. */
  readonly credited: Money | null;
  /** Month of the first closed statement that counts the order, such as `2026-10`. */
  readonly statementMonth: string | null;
};

export type Claimed = Pick<ClaimLine, 'creator' | 'orderId' | 'amount' | 'currency' | 'day' | 'code'>;

export type ClaimRules = {
  /** The sources whose orders are credited. */
  readonly sources: readonly string[];
  /** IANA zone of the days of claims. */
  readonly timeZone: string;
};

type Asking = { readonly db: Database; readonly claimant: Claimant; readonly rules: ClaimRules };

/** Decides the answer to each claim from what is known now. Nothing is changed. */
export async function answerClaims(
  db: Database,
  claims: readonly Claimed[],
  rules: ClaimRules,
): Promise<readonly ClaimAnswer[]> {
  const claimants = new Map<string, Promise<Claimant>>();
  const answers: ClaimAnswer[] = [];
  for (const claim of claims) {
    const known = claimants.get(claim.creator) ?? readClaimant(db, claim.creator);
    claimants.set(claim.creator, known);
    const asking = { db, rules, claimant: await known };
    const answer = await (claim.orderId === null ? answerByAmount(claim, asking) : answerById(claim, asking));
    answers.push({ ...answer, text: maskAddresses(answer.text), reply: maskAddresses(answer.reply) });
  }
  return answers;
}

const NOTHING = { credited: null, statementMonth: null } as const;

async function answerById(claim: Claimed, asking: Asking): Promise<ClaimAnswer> {
  const { db, claimant } = asking;
  const lives = await explainOrder(db, { order: claim.orderId ?? '' });
  for (const life of lives)
    for (const entry of life.entries)
      if (entry.state === 'accepted' && (await isOf(db, claimant, creditedBy(entry))) === true)
        return answerCredited(db, { ...life, entries: [entry] }, entry);
  const [life, ...others] = lives;
  if (life === undefined) return answerUnseen(claim, asking);
  if (others.length > 0)
    return {
      kind: 'several_orders',
      text: `Several sources have an order ${claim.orderId}: ${lives.map(({ source }) => source ?? 'none').join(', ')}. The claim does not say which one, and none is credited to the creator.`,
      reply: 'Several orders have this id. Please say in which shop it was placed.',
      ...{ next: seeOrder(life), ...NOTHING },
    };
  return answerLife(claim, life, asking);
}

function seeOrder({ source, orderId }: Pick<OrderLife, 'source' | 'orderId'>): Answer['next'] {
  return {
    label: 'See the order',
    page: `/orders/${encodeURIComponent(source ?? '-')}/${encodeURIComponent(orderId)}`,
    command: `npx influencer-sync explain order ${shellWord(orderId)}`,
  };
}

async function answerCredited(db: Database, life: OrderLife, entry: EntryLife): Promise<ClaimAnswer> {
  const { rows } = await sql<{ month: string; earned: string; currency: string }>`
    select to_char(min(s.month), 'YYYY-MM') as month, sum(l.amount)::text as earned, l.currency
    from ops.statement_lines l join ops.statements s using (statement_id)
    where l.subject = 'order:' || ${entry.entryId}::text group by l.currency order by 1 limit 1`.execute(db);
  const [counted] = rows;
  const credited = entry.amount === null ? null : { amount: entry.amount, currency: entry.currency };
  const sum = credited === null ? '' : `: ${formatMoney(credited.amount, credited.currency)}`;
  const statement =
    counted === undefined
      ? 'It is in no closed statement yet.'
      : `It counts in the statement of ${counted.month} and earned ${formatMoney(counted.earned, counted.currency)}.`;
  return {
    kind: 'credited',
    text: `${answerOrder(life).text} ${statement}`,
    reply: `Credited to you on ${formatInstant(entry.stateChangedAt).slice(0, 10)}${sum}. ${statement}`,
    next: seeOrder(life),
    // An order without its currency has no amount that could be added up.
    credited: credited?.currency === null ? null : credited,
    statementMonth: counted?.month ?? null,
  };
}

async function answerLife(claim: Claimed, life: OrderLife, asking: Asking): Promise<ClaimAnswer> {
  const answer = answerOrder(life);
  const { entry, decided } = decisiveOf(life);
  const codes = (life.versions.find(({ isCurrent }) => isCurrent)?.codes ?? []).map(foldCode);
  const isClaimedCodeMissing = claim.code !== null && !codes.includes(foldCode(claim.code));
  const kind = await kindOf(claim, life, { answer, codes, asking });
  const notes = [
    answer.text,
    entry?.state === 'accepted' && decided !== undefined ? sayRule(decided) : '',
    isClaimedCodeMissing ? `The order does not carry the code ${markLookAlikes(claim.code ?? '')}.` : '',
    kind === 'no_code' && answer.kind !== 'no_code' ? 'It carries no code or link of the creator.' : '',
    kind === 'owner_unknown'
      ? `It is not known whether the order belongs to ${claim.creator}: no deal, code or credited order links it to this creator.`
      : '',
  ];
  const reason = decided?.reason?.replaceAll('_', ' ');
  return {
    kind,
    text: notes.filter((note) => note !== '').join(' '),
    reply:
      kind === 'excluded' && reason !== undefined ? `The order does not count: ${reason}.` : REPLIES[kind],
    ...{ next: answer.next ?? seeOrder(life), ...NOTHING },
  };
}

/** What became of an order that is not credited to the claimant, for the claimant. */
async function kindOf(
  claim: Claimed,
  life: OrderLife,
  {
    answer: { kind },
    codes,
    asking: { db, claimant },
  }: { readonly answer: OrderAnswer; readonly codes: readonly string[]; readonly asking: Asking },
): Promise<ClaimAnswerKind> {
  const { entry, decided } = decisiveOf(life);
  if (kind === 'credited' && entry !== undefined)
    // An entry of the claimant was looked for before, so this is another's, or not known.
    return (await isOf(db, claimant, creditedBy(entry))) === false ? 'credited_to_another' : 'owner_unknown';
  const isTied = codes.some((code) => code === foldCode(claim.code ?? '') || claimant.codes.has(code));
  const current = life.versions.find(({ isCurrent }) => isCurrent);
  const owners = [decided, current].map((named) => ({
    dealId: named?.dealId ?? null,
    handle: named?.influencerHandle ?? null,
  }));
  const isOwn = await Promise.all(owners.map((owner) => isOf(db, claimant, owner)));
  // Of a link, a collaboration and a file that is not read, it is not known whether they are the claimant's.
  const mayBeOwn = current === undefined || current.links.length > 0 || current.collabId !== null;
  if (!isTied && !isOwn.includes(true) && (!mayBeOwn || isOwn.includes(false)) && kind !== 'no_code')
    return claimant.isKnown ? 'no_code' : 'owner_unknown';
  if (kind === 'undecided') return 'waiting';
  if (kind !== 'no_owner') return kind as Exclude<typeof kind, 'no_owner' | 'undecided'>;
  return /_(?:expired|not_yet_valid)$/.test(decided?.reason ?? '') ? 'code_not_valid' : 'code_unknown';
}

/** The rule by which an order was credited, with what would have named others. */
function sayRule({ matchedBy, matchedValue, claims }: OrderAttribution): string {
  const rule =
    matchedBy === 'explicit'
      ? `the export itself names ${matchedValue ?? 'the creator'}`
      : matchedBy === null
        ? 'no longer known'
        : `by its ${matchedBy} ${matchedValue ?? ''}`;
  return `Rule: ${rule}${claims === null ? '' : `; evidence for several owners: ${claims}`}.`;
}

/** Answers to the creator that depend on nothing else. */
const REPLIES: Readonly<Record<ClaimAnswerKind, string>> = {
  credited: 'Credited to you.',
  credited_to_another: 'The order is credited to another creator, by what it carries.',
  owner_unknown: 'The order was credited. We are checking whether it was credited to you.',
  waiting: 'The order is being processed. Whom it is credited to is not decided yet.',
  held: 'The order is being checked. You get another answer when that is done.',
  in_doubt: 'The order is being checked. You get another answer when that is done.',
  refused: 'The order is being checked. You get another answer when that is done.',
  not_sent: 'The order is being checked. You get another answer when that is done.',
  row_rejected: 'The order is being checked. You get another answer when that is done.',
  file_held: 'The order is being checked. You get another answer when that is done.',
  written_off: 'It is not known whether the order was credited. We are checking it.',
  excluded: 'The order does not count.',
  code_unknown: 'The code of the order belongs to no creator. We are checking whose it is.',
  code_not_valid: 'The code of the order was not valid on the day of the order.',
  no_code: 'The order carries no code or link of yours.',
  several_orders: 'Several orders have this id. Please say in which shop it was placed.',
  similar_id: 'No order has this id. Please check how it is written.',
  candidates: 'Please send the id of the order: amount and day are not enough to tell which one it is.',
  not_in_exports: 'No such order was placed on that day.',
  day_not_exported: 'The orders of that day are not complete here yet. You get another answer when they are.',
};

/** Most orders that are named as candidates. */
const CANDIDATES = 10;

/** An order of which no row and no entry is known by its id. */
async function answerUnseen(claim: Claimed, asking: Asking): Promise<ClaimAnswer> {
  const id = foldOrderId(claim.orderId ?? '');
  const loose = similarId(id) ?? id;
  const { rows: similar } = await sql<Candidate>`
    select o.source, o.order_id as "orderId" from unnest(${[...asking.rules.sources]}::text[]) s(source)
    cross join lateral (
      select * from intake.orders x where x.source = s.source and x.is_current and x.similar_to = ${loose}
      union all
      select * from intake.orders x where x.source = s.source and x.is_current and x.order_id = ${loose}) o
    order by 1, 2 limit ${CANDIDATES}`.execute(asking.db);
  if (similar.length > 0)
    return {
      kind: 'similar_id',
      text: `No order has the id ${claim.orderId}. Similar: ${listOrders(similar)}. If one of them is meant, add the claim again with its id.`,
      ...{ reply: REPLIES.similar_id, next: seeFirst(similar), ...NOTHING },
    };
  return answerByDay(claim, asking, `No order has the id ${claim.orderId}.`);
}

type Candidate = { readonly source: string; readonly orderId: string };

function listOrders(orders: readonly Candidate[]): string {
  return orders.map(({ source, orderId }) => `${orderId} of ${source}`).join(', ');
}

function seeFirst([first]: readonly Candidate[]): Answer['next'] {
  return first === undefined ? null : seeOrder(first);
}

/** SQL for the time of order `o`, as the index has it. */
const ORDERED_AT = sql`coalesce(o.placed_at, o.paid_at, o.first_seen_at)`;
const IS_DATED = sql`coalesce(o.placed_at, o.paid_at) is not null`;
const IS_SEALED = sql`exists (select from intake.source_files f where f.source_file_id = o.source_file_id and f.state = 'sealed')`;

/** SQL for the first instant of a day, and of the day after it. */
function boundsOf(day: string | null, { timeZone }: ClaimRules) {
  const startOf = (days: number) =>
    sql`((${day}::date + ${days}::integer)::timestamp at time zone ${timeZone}::text)`;
  return { begin: startOf(0), end: startOf(1) };
}

/** A claim by amount and day: orders that carry what is the creator's are candidates, and none is taken by itself. */
async function answerByAmount(claim: Claimed, asking: Asking): Promise<ClaimAnswer> {
  const { db, claimant, rules } = asking;
  const { begin, end } = boundsOf(claim.day, rules);
  const codes = claim.code === null ? [...claimant.codes] : [foldCode(claim.code)];
  const [deals, handles] = claim.code === null ? [[...claimant.deals], [...claimant.handles]] : [[], []];
  const { rows } = await sql<Candidate>`
    select o.source, o.order_id as "orderId" from intake.orders o
    where ${ORDERED_AT} >= ${begin} and ${ORDERED_AT} < ${end} and ${IS_DATED} and o.is_current and ${IS_SEALED}
      and o.currency = ${claim.currency} and (o.codes_folded && ${codes}::text[] or exists (
        select from intake.attributions a where a.source = o.source and a.order_id = o.order_id
          and (a.deal_id = any(${deals}::text[]) or lower(ltrim(a.influencer_handle, '@')) = any(${handles}::text[]))))
      and (${claim.amount}::numeric in (o.total, o.subtotal) or exists (
        select from intake.attributions a where a.source = o.source and a.order_id = o.order_id and a.amount = ${claim.amount}::numeric))
    order by 1, 2 limit ${CANDIDATES}`.execute(db);
  const what = `${formatMoney(claim.amount ?? '0', claim.currency)} on ${claim.day} (${rules.timeZone})`;
  const whose = claim.code === null ? 'with a code or link of the creator' : `with the code ${claim.code}`;
  if (rows.length > 0)
    return {
      kind: 'candidates',
      text: `${rows.length === 1 ? 'One order' : `${rows.length === CANDIDATES ? 'At least ' : ''}${plural(rows.length, 'order')}`} ${whose} of ${what}: ${listOrders(rows)}. Amount and day do not prove that it is the one. If it is, add the claim again with its id.`,
      ...{ reply: REPLIES.candidates, next: seeFirst(rows), ...NOTHING },
    };
  if (!claimant.isKnown && claim.code === null)
    return {
      kind: 'owner_unknown',
      text: `No deal, code or credited order names ${claim.creator}, so no order can be found by amount and day. Check how the creator is written, or add the code.`,
      reply: 'Please send the id of the order, or its code.',
      ...{ next: null, ...NOTHING },
    };
  return answerByDay(claim, asking, `No order ${whose} of ${what} was read.`);
}

type Coverage = {
  readonly source: string;
  /** The newest file that states an order of the day. Null: none does. */
  readonly uri: string | null;
  readonly rejected: number;
  /** Whether an order of a later day is known. */
  readonly isFollowed: boolean;
  readonly heldFiles: number;
};

/** An order that no export states: a no only if every source has the whole day; otherwise it is unknown. */
async function answerByDay(claim: Claimed, { db, rules }: Asking, what: string): Promise<ClaimAnswer> {
  const unknown = (why: string, next: Answer['next'] = null): ClaimAnswer => ({
    kind: 'day_not_exported',
    text: `${what} ${why}`,
    ...{ reply: REPLIES.day_not_exported, next, ...NOTHING },
  });
  if (claim.day === null)
    return unknown(
      'The claim names no day, so it is not known whether the exports of its day have arrived. Add the claim again with its day.',
    );
  const { begin, end } = boundsOf(claim.day, rules);
  const { rows } = await sql<Coverage>`
    select s.source, n.uri, coalesce(n.rejected, 0)::integer as rejected,
      exists (
        select from intake.orders o where ${ORDERED_AT} >= ${end} and ${IS_DATED} and o.source = s.source and ${IS_SEALED}) as "isFollowed",
      (select count(*) from intake.source_files f
        where f.source = s.source and f.read_for = 'orders' and f.state in ('held', 'reading') and f.superseded_by is null)::integer as "heldFiles"
    from unnest(${[...rules.sources]}::text[]) s(source)
    left join lateral (
      select max(f.rejected_rows) over () as rejected, f.uri from intake.source_files f
      where f.state = 'sealed' and f.source_file_id in (
        select o.source_file_id from intake.orders o
        where ${ORDERED_AT} >= ${begin} and ${ORDERED_AT} < ${end} and ${IS_DATED} and o.source = s.source)
      order by f.sealed_at desc limit 1) n on true
    order by s.source`.execute(db);
  const lacking = rows.find(({ uri, isFollowed }) => uri === null || !isFollowed);
  if (lacking !== undefined || rows.length === 0)
    return unknown(
      `The exports of ${claim.day}${lacking === undefined ? '' : ` of ${lacking.source}`} have not arrived, or only in part${lacking?.uri == null ? '' : `: the newest one with orders of that day is ${fileName(lacking.uri)}`}.`,
    );
  const held = rows.find(({ heldFiles }) => heldFiles > 0);
  if (held !== undefined)
    return unknown(
      `${plural(held.heldFiles, 'file')} of ${held.source} ${held.heldFiles === 1 ? 'is' : 'are'} held. The order may be in ${held.heldFiles === 1 ? 'it' : 'one of them'}.`,
      {
        label: 'Decide about the file',
        page: '/files?state=held',
        command: 'npx influencer-sync files --state held',
      },
    );
  const rejected = rows.find((row) => row.rejected > 0);
  if (rejected !== undefined)
    return unknown(
      `${plural(rejected.rejected, 'row')} of a file of ${rejected.source} with orders of that day could not be used. The order may be in ${rejected.rejected === 1 ? 'it' : 'one of them'}.`,
      {
        label: 'See the rows',
        page: `/rejected?${new URLSearchParams({ source: rejected.source })}`,
        command: 'npx influencer-sync rejected',
      },
    );
  const newest = rows.map(({ source, uri }) => `${fileName(uri ?? '')} of ${source}`).join(', ');
  return {
    kind: 'not_in_exports',
    text: `${what} The newest exports with orders of ${claim.day} do not have it: ${newest}.`,
    reply:
      claim.orderId === null
        ? `No order of yours with this amount was placed on ${claim.day}.`
        : `No order with this id was placed on ${claim.day}.`,
    ...{ next: null, ...NOTHING },
  };
}
