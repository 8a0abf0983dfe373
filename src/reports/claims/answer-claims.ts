import { sql } from 'kysely';
import { type DecimalText, formatKnown, formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { foldCode, foldHandle } from '../../core/text/fold.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { foldOrderId, similarId } from '../../core/text/order-key.ts';
import { shellWord } from '../../core/text/printable.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import type { GivenAnswer } from '../../money/claims/keep-claims.ts';
import type { ClaimLine } from '../../money/claims/parse-claims.ts';
import { earnedOrders } from '../../money/kept-earnings.ts';
import type { StatementRules } from '../../money/statement.ts';
import { markLookAlikes, plural } from '../../render/text.ts';
import { isSettled } from '../files/list-rejected.ts';
import { spellingsOf } from '../find-handles.ts';
import {
  type Answer,
  answerOrder,
  decisiveOf,
  isDecisionOf,
  type OrderAnswer,
  sayAmountNow,
  sayRefunded,
} from '../lives/answer-order.ts';
import { type Credited, creditedBy, type EntryLife, isInQuestion } from '../lives/entry-lives.ts';
import { explainOrder, type OrderAttribution, type OrderLife } from '../lives/explain-order.ts';

/*
 * The answer to a claim that an order was not credited. An order that is found gets the answer that `explain` gives,
 * judged for the claimant. Nothing is decided by similarity: candidates are only named. A no needs proof, so an order is
 * "not in any export" only if the exports of its day have arrived whole; otherwise it is unknown.
 */

export type ClaimAnswerKind = keyof typeof REPLIES;

/** Answers that nothing will change but new facts. The others say what is waited for, so their claims stay open. */
export const FINAL_ANSWERS: readonly ClaimAnswerKind[] = [
  'credited',
  'credited_to_another',
  'no_longer_counted',
  'excluded',
  'code_not_valid',
  'no_code',
  'not_in_exports',
];

export type ClaimAnswer = Omit<GivenAnswer, 'kind'> & {
  readonly kind: ClaimAnswerKind;
  readonly next: Answer['next'];
};

export type Claimed = Pick<ClaimLine, 'creator' | 'orderId' | 'amount' | 'currency' | 'day' | 'code'>;

export type ClaimRules = {
  /** The sources whose orders are credited. */
  readonly sources: readonly string[];
  /** IANA zone of the days of claims. */
  readonly timeZone: string;
  /** Loads the rules of statements, for orders that a closed one counts. Null: they cannot be read. */
  readonly statementRules: () => StatementRules | null;
};

type Asking = {
  readonly db: Database;
  readonly claimant: Claimant;
  readonly rules: ClaimRules;
  /** The order ids of the creator's claims that are answered together with this one. */
  readonly alsoClaimed: readonly string[];
};

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
    const alsoClaimed = claims.flatMap(({ creator, orderId }) =>
      creator === claim.creator && orderId !== null ? [orderId] : [],
    );
    const asking = { db, rules, claimant: await known, alsoClaimed };
    const found = await (claim.orderId === null ? answerByAmount(claim, asking) : answerById(claim, asking));
    answers.push({ ...found, text: maskAddresses(found.text), reply: maskAddresses(found.reply) });
  }
  return answers;
}

/** An answer that credits nothing, with the usual reply for the creator. */
function answer(kind: ClaimAnswerKind, text: string, more: Partial<ClaimAnswer> = {}): ClaimAnswer {
  const nothing = { next: null, order: null, credited: null, statementMonth: null };
  return { kind, text, reply: REPLIES[kind], ...nothing, ...more };
}

async function answerById(claim: Claimed, asking: Asking): Promise<ClaimAnswer> {
  const { db, claimant } = asking;
  const lives = await explainOrder(db, { order: claim.orderId ?? '', isWhole: true });
  for (const life of lives)
    for (const entry of life.entries)
      if (entry.state === 'accepted' && (await isOf(db, claimant, creditedBy(entry))) === true)
        return aboutOrder(life, await answerCreditedClaim(asking, { ...life, entries: [entry] }, entry));
  const [life, ...others] = lives;
  if (life === undefined) return answerUnseen(claim, asking);
  if (others.length > 0)
    return answer(
      'several_orders',
      `Several sources have an order ${claim.orderId}: ${lives.map(({ source }) => source ?? 'none').join(', ')}. The claim does not say which one, and none is credited to the creator.`,
      { next: seeOrder(life) },
    );
  return aboutOrder(life, await answerLife(claim, life, asking));
}

/** A final answer stays open while a row that could not be used states the order otherwise, perhaps. */
function aboutOrder(life: OrderLife, read: ClaimAnswer): ClaimAnswer {
  const order = { source: life.source, orderId: life.orderId };
  const { kind, text, next } = answerOrder({ ...life, entries: [], attributions: [] });
  if (!FINAL_ANSWERS.includes(read.kind) || kind !== 'row_rejected') return { ...read, order };
  return answer(kind, `${read.text} But what states it later is not read. ${text}`, { next, order });
}

function seeOrder({ source, orderId }: Pick<OrderLife, 'source' | 'orderId'>): Answer['next'] {
  return {
    label: 'See the order',
    page: `/orders/${encodeURIComponent(source ?? '-')}/${encodeURIComponent(orderId)}`,
    command: `npx influencer-sync explain order ${shellWord(orderId)}`,
  };
}

/** What closed statements count of an order that was credited, and what the next one corrects. */
async function readCounted({ db, rules }: Asking, { entryId, change }: EntryLife) {
  const subject = `order:${entryId}`;
  const [first, ...later] = await rowsOf<{ month: string; earned: DecimalText; currency: string }>(db)`
    select to_char(s.month, 'YYYY-MM') as month, sum(l.amount)::text as earned, l.currency
    from ops.statement_lines l join ops.statements s using (statement_id)
    where l.subject = ${subject} group by s.month, l.currency order by s.month`;
  if (first === undefined) return { month: null, text: 'It is in no closed statement yet.' };
  const { month, earned, currency } = first;
  const statementRules = change?.isGone === true ? null : rules.statementRules();
  const earns =
    statementRules === null
      ? sql`earned as (select ${change?.isGone === true ? '0' : null}::numeric as earned_amount)`
      : earnedOrders(statementRules, { areKept: false, entries: sql`select ${entryId}::bigint` });
  // Null if it is not known what the order earns now.
  const next = await rowOf<{ readonly earned: DecimalText | null }>(db)`
    with ${earns}
    select (earned_amount - (
        select sum(l.amount) from ops.statement_lines l where l.subject = ${subject}))::text as earned
    from earned`;
  const corrections = [
    ...later.map((one) => sayCorrection(`The statement of ${one.month}`, one.earned, one.currency)),
    ...(next?.earned == null ? ['It is not known whether the next statement corrects it.'] : []),
    ...(next?.earned == null || /^-?0(?:\.0+)?$/.test(next.earned)
      ? []
      : [sayCorrection('The next statement', next.earned, currency)]),
  ];
  const counts = corrections.length === 0 ? 'counts' : 'counted';
  const inFirst = `It ${counts} in the statement of ${month} and earned ${formatMoney(earned, currency)}.`;
  return { month, text: [inFirst, ...corrections].join(' ') };
}

function sayCorrection(which: string, amount: DecimalText, currency: string): string {
  const does = amount.startsWith('-') ? 'takes back' : 'adds';
  return `${which} ${does} ${formatMoney(amount.replace(/^-/, ''), currency)}.`;
}

async function answerCreditedClaim(asking: Asking, life: OrderLife, entry: EntryLife): Promise<ClaimAnswer> {
  const { change, amount, currency } = entry;
  const counted = await readCounted(asking, entry);
  const day = formatInstant(entry.stateChangedAt).slice(0, 10);
  const sum = amount === null ? '' : `: ${formatMoney(amount, currency)}`;
  const text = `${answerOrder(life).text} ${counted.text}`;
  const of = { next: seeOrder(life), statementMonth: counted.month };
  const refunded = sayRefunded(life, entry);
  if (change !== null && isInQuestion(change))
    return answer('credit_in_question', text, {
      ...of,
      reply: `It was credited to you on ${day}${sum}, but the order has changed since.${refunded} We are checking what it comes to now.`,
    });
  if (change?.isGone === true)
    return answer('no_longer_counted', text, {
      ...of,
      reply: `It was credited to you on ${day}${sum}. It does not count any more: the order was ${change.kind} afterwards.${counted.month === null ? '' : ` ${counted.text}`}`,
    });
  return answer('credited', text, {
    ...of,
    reply: `Credited to you on ${day}${sum}.${sayAmountNow(entry)}${refunded} ${counted.text}`,
    // An order without its currency has no amount that could be added up.
    credited: amount === null || currency === null ? null : { amount, currency },
  });
}

async function answerLife(claim: Claimed, life: OrderLife, asking: Asking): Promise<ClaimAnswer> {
  const ofOrder = answerOrder(life);
  const { entry, decided } = decisiveOf(life);
  const codes = (life.versions.find(({ isCurrent }) => isCurrent)?.codes ?? []).map(foldCode);
  const isClaimedCodeMissing = claim.code !== null && !codes.includes(foldCode(claim.code));
  const kind = await kindOf(claim, life, { ofOrder: ofOrder.kind, codes, asking });
  const notes = [
    ofOrder.text,
    entry?.state === 'accepted' && decided !== undefined && isDecisionOf(entry, decided)
      ? sayRule(decided)
      : '',
    kind === 'credit_in_question' ? 'The order has changed since, and may be of another creator now.' : '',
    isClaimedCodeMissing ? `The order does not carry the code ${markLookAlikes(claim.code ?? '')}.` : '',
    kind === 'no_code' && ofOrder.kind !== 'no_code' ? 'It carries no code or link of the creator.' : '',
    kind === 'owner_unknown'
      ? `It is not known whether the order belongs to ${claim.creator}: what it carries, or carried before, may be a code or link of this creator.`
      : '',
  ];
  const reason = decided?.reason?.replaceAll('_', ' ');
  return answer(kind, notes.filter((note) => note !== '').join(' '), {
    next: ofOrder.next ?? seeOrder(life),
    ...(kind === 'excluded' && reason !== undefined && { reply: `The order does not count: ${reason}.` }),
  });
}

/** What became of an order that is not credited to the claimant, for the claimant. */
async function kindOf(
  claim: Claimed,
  life: OrderLife,
  {
    ofOrder: kind,
    codes,
    asking: { db, claimant },
  }: { ofOrder: OrderAnswer['kind']; codes: readonly string[]; asking: Asking },
): Promise<ClaimAnswerKind> {
  const { entry, decided } = decisiveOf(life);
  if (kind === 'credited' && entry !== undefined) {
    // An entry of the claimant was looked for before, so this is another's, or not known.
    if ((await isOf(db, claimant, creditedBy(entry))) !== false) return 'owner_unknown';
    const now = { dealId: decided?.dealId ?? null, handle: decided?.influencerHandle ?? null };
    return entry.change !== null && isInQuestion(entry.change) && (await isOf(db, claimant, now)) !== false
      ? 'credit_in_question'
      : 'credited_to_another';
  }
  const owns = await ownsEvidence(db, claimant, life, decided);
  const isTied = owns.includes(true) || (claim.code !== null && codes.includes(foldCode(claim.code)));
  if (!isTied && owns.every((isOwn) => isOwn === false)) {
    if (life.versions.some(({ isCurrent, doubt }) => isCurrent && doubt !== null)) return 'owner_unknown';
    return claimant.isKnown || kind === 'no_code' ? 'no_code' : 'owner_unknown';
  }
  // It carries nothing now, but an earlier version carried something.
  if (kind === 'no_code') return 'owner_unknown';
  if (kind === 'undecided' || kind === 'waiting') return isTied ? 'waiting' : 'owner_unknown';
  if (kind !== 'no_owner') return kind;
  const isNotValid = /_(?:expired|not_yet_valid)$/.test(decided?.reason ?? '');
  return isNotValid && !owns.includes(null) ? 'code_not_valid' : 'code_unknown';
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

const BEING_CHECKED = 'The order is being checked. You get another answer when that is done.';

/** What the answer to a claim can be, with the reply to the creator that depends on nothing else. */
const REPLIES = {
  credited: 'Credited to you.',
  credited_to_another: 'The order is credited to another creator, by what it carries.',
  no_longer_counted: 'It was credited to you, and does not count any more.',
  credit_in_question: BEING_CHECKED,
  owner_unknown: 'We are checking whether the order is yours.',
  waiting: 'The order is being processed. Whom it is credited to is not decided yet.',
  held: BEING_CHECKED,
  in_doubt: BEING_CHECKED,
  refused: BEING_CHECKED,
  not_sent: BEING_CHECKED,
  row_rejected: BEING_CHECKED,
  written_off: 'It is not known whether the order was credited. We are checking it.',
  excluded: 'The order does not count.',
  code_unknown: 'The code of the order belongs to no creator. We are checking whose it is.',
  code_not_valid: 'The code of the order was not valid on the day of the order.',
  no_code: 'The order carries no code or link of yours.',
  several_orders: 'Several orders have this id. Please say in which shop it was placed.',
  similar_id: 'No order has this id. Please check how it is written.',
  candidates: 'Please send the id of the order: amount and day do not show which one it is.',
  not_in_exports: 'No such order was placed on that day.',
  day_not_exported: 'The orders of that day are not complete here yet. You get another answer when they are.',
};

const CANDIDATES = 10;

/** An order of which no row and no entry is known by its id. */
async function answerUnseen(claim: Claimed, asking: Asking): Promise<ClaimAnswer> {
  const id = foldOrderId(claim.orderId ?? '');
  const loose = similarId(id) ?? id;
  const similar = await rowsOf<Candidate>(asking.db)`
    select o.source, o.order_id as "orderId" from unnest(${[...asking.rules.sources]}::text[]) s(source)
    cross join lateral (
      select * from intake.orders x where x.source = s.source and x.is_current and x.similar_to = ${loose}
      union all
      select * from intake.orders x where x.source = s.source and x.is_current and x.order_id = ${loose}) o
    order by 1, 2 limit ${CANDIDATES}`;
  if (similar.length > 0)
    return answer(
      'similar_id',
      `No order has the id ${claim.orderId}. Similar: ${listOrders(similar)}. If one of them is meant, add the claim again with its id.`,
      { next: seeFirst(similar) },
    );
  return answerByDay(claim, asking, `No order has the id ${claim.orderId}.`);
}

type Candidate = { readonly source: string; readonly orderId: string };

function listOrders(orders: readonly Candidate[]): string {
  const named = orders.slice(0, CANDIDATES).map(({ source, orderId }) => `${orderId} of ${source}`);
  return `${named.join(', ')}${orders.length > CANDIDATES ? ', …' : ''}`;
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

/** SQL for the decisions about order `o`. */
const DECISIONS = sql`from intake.attributions a where a.source = o.source and a.order_id = o.order_id`;

/** SQL that is true if order `o` carries one of the codes, or it or its decision names one of the deals or handles. */
function carries({ codes, deals, handles }: Pick<Claimant, 'codes' | 'deals' | 'handles'>) {
  const names = (of: 'o' | 'a') => sql`(${sql.ref(`${of}.deal_id`)} = any(${[...deals]}::text[])
    or ledger.fold_handle(${sql.ref(`${of}.influencer_handle`)}) = any(${[...handles]}::text[]))`;
  return sql`(o.codes_folded && ${[...codes]}::text[] or ${names('o')} or exists (select ${DECISIONS} and ${names('a')}))`;
}

/** SQL that is true if it is not decided whose order `o` is: it is held, ownerless or excluded with an unknown owner. */
const IS_OPEN = sql`(o.doubt is not null or not exists (select ${DECISIONS}) or exists (
  select ${DECISIONS} and (a.outcome in ('held', 'unattributed') or (a.outcome = 'excluded' and (
    cardinality(o.links) > 0 or o.collab_id is not null or exists (
      select from unnest(o.codes_folded) c (code)
      where not exists (select from intake.codes k where k.code_folded = c.code)))))))`;

type SameAmount = Candidate & {
  /** Whether it carries the code of the claim; without one, what is the creator's. */
  readonly isMeant: boolean;
  readonly mayBeOwn: boolean;
  /** To whom it is attributed. */
  readonly owners: readonly Credited[];
};

/** A claim by amount and day: orders that carry what is the creator's are candidates, and none is taken by itself. */
async function answerByAmount(claim: Claimed, asking: Asking): Promise<ClaimAnswer> {
  const { db, claimant, rules, alsoClaimed } = asking;
  const { begin, end } = boundsOf(claim.day, rules);
  const meant =
    claim.code === null
      ? claimant
      : { codes: new Set([foldCode(claim.code)]), deals: new Set<string>(), handles: new Set<string>() };
  const rows = await rowsOf<SameAmount>(db)`
    select o.source, o.order_id as "orderId", coalesce(bool_or(${carries(meant)}), false) as "isMeant",
      coalesce(bool_or(${carries(claimant)} or ${IS_OPEN}), false) as "mayBeOwn",
      coalesce((select jsonb_agg(distinct jsonb_build_object('dealId', a.deal_id, 'handle',
              a.influencer_handle)) ${DECISIONS}
        and a.outcome = 'attributed'), '[]') as owners
    from intake.orders o
    where ${ORDERED_AT} >= ${begin} and ${ORDERED_AT} < ${end} and ${IS_DATED} and ${IS_SEALED}
      and o.currency = ${claim.currency}
      and (${claim.amount}::numeric in (o.total, o.subtotal)
        or exists (select ${DECISIONS} and a.amount = ${claim.amount}::numeric))
    group by 1, 2 order by 1, 2`;
  const found = rows.filter(({ isMeant }) => isMeant);
  const what = `${formatKnown(claim.amount, claim.currency)} on ${claim.day} (${rules.timeZone})`;
  const whose = claim.code === null ? 'with a code or link of the creator' : `with the code ${claim.code}`;
  const claimed = new Set(alsoClaimed.map(foldOrderId));
  const same = found.filter(({ orderId }) => claimed.has(foldOrderId(orderId)));
  if (same.length > 0)
    return answer(
      'candidates',
      `Another claim of the creator names ${listOrders(same)}, which has this amount and day. If both mean the same order, close this one as withdrawn: the other has the answer.`,
      { next: seeFirst(same) },
    );
  if (found.length > 0)
    return answer(
      'candidates',
      `${found.length === 1 ? 'One order' : plural(found.length, 'order')} ${whose} of ${what}: ${listOrders(found)}. Amount and day do not prove that it is the one. If it is, add the claim again with its id.`,
      { next: seeFirst(found) },
    );
  if (!claimant.isKnown && claim.code === null)
    return answer(
      'owner_unknown',
      `No deal, code or credited order names ${claim.creator}, so no order can be found by amount and day. Check how the creator is written, or add the code.`,
      { reply: 'Please send the id of the order, or its code.' },
    );
  const possible: Candidate[] = [];
  for (const row of rows) {
    const isOwn = await Promise.all(row.owners.map((owner) => isOf(db, claimant, owner)));
    if (row.mayBeOwn || isOwn.includes(null)) possible.push(row);
  }
  if (possible.length > 0)
    return answer(
      'candidates',
      `No order ${whose} of ${what} was read, but ${plural(possible.length, 'order')} whose creator is not known yet: ${listOrders(possible)}. Decide about the order, or ask for its id.`,
      { next: seeFirst(possible) },
    );
  return answerByDay(claim, asking, `No order ${whose} of ${what} was read.`);
}

type Coverage = {
  readonly source: string;
  /** The newest file that states an order of the day. Null: none does. */
  readonly uri: string | null;
  /** Whether that file was exported after the day: it states an order of a later day, or its name has a later date. */
  readonly isWhole: boolean;
  readonly heldFiles: number;
  /** Rows of files of the day or later that could not be used, and that no later file states. */
  readonly rejected: number;
  /** Rows of these files that were taken for totals because of their amounts. */
  readonly totals: number;
};

/** An order that no export states: a no only if every source has the whole day; otherwise it is unknown. */
async function answerByDay(claim: Claimed, { db, rules }: Asking, what: string): Promise<ClaimAnswer> {
  const unknown = (why: string, next: Answer['next'] = null): ClaimAnswer =>
    answer('day_not_exported', `${what} ${why}`, { next });
  if (claim.day === null)
    return unknown(
      'The claim names no day, so it is not known whether the exports of its day have arrived. Add the claim again with its day.',
    );
  const { begin, end } = boundsOf(claim.day, rules);
  // A file that was sealed before the day began cannot state an order of it.
  const mayState = sql`f.source = s.source and f.read_for = 'orders' and f.state = 'sealed' and f.superseded_by is null and f.sealed_at >= ${begin}`;
  const rows = await rowsOf<Coverage>(db)`
    select s.source, n.uri, coalesce(n.is_whole, false) as "isWhole",
      (select count(*) from intake.source_files f
        where f.source = s.source and f.read_for = 'orders' and f.state in ('held', 'reading')
          and f.superseded_by is null)::integer as "heldFiles",
      (select coalesce(sum(r.row_count), 0)
        from intake.source_files f join intake.rejected_rows r using (source_file_id)
        where ${mayState} and f.rejected_rows > 0 and not ${isSettled})::integer as rejected,
      (select count(*) from intake.source_files f cross join jsonb_array_elements(f.footer) t (total)
        where ${mayState} and t.total ->> 'by' <> 'label')::integer as totals
    from unnest(${[...rules.sources]}::text[]) s(source)
    -- Orders of the day, by the files that introduced them; files that state them again refer to them.
    cross join lateral (
      select array_agg(distinct o.source_file_id) as files,
        range_agg(int8range(o.order_version_id, o.order_version_id, '[]')) as versions
      from intake.orders o
      where ${ORDERED_AT} >= ${begin} and ${ORDERED_AT} < ${end} and ${IS_DATED} and o.source = s.source) d
    left join lateral (
      select f.uri, (f.age_basis = 'date_in_name' and f.aged_at >= ${end})
        or exists (select from intake.orders o
          where o.source_file_id = f.source_file_id and ${ORDERED_AT} >= ${end} and ${IS_DATED})
        or exists (
          select from intake.restated_orders x cross join lateral unnest(x.order_version_ids) v (ids)
          join intake.orders o on o.order_version_id >= lower(v.ids) and o.order_version_id < upper(v.ids)
          where x.source_file_id = f.source_file_id and ${ORDERED_AT} >= ${end} and ${IS_DATED}) as is_whole
      from intake.source_files f
      where f.source = s.source and f.state = 'sealed' and (f.source_file_id = any(d.files) or exists (
        select from intake.restated_orders x
        where x.source_file_id = f.source_file_id and x.order_version_ids && d.versions))
      order by f.source_file_id desc limit 1) n on true
    order by s.source`;
  const lacking = rows.find(({ uri, isWhole }) => uri === null || !isWhole);
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
  const unread = rows.find((row) => row.rejected + row.totals > 0);
  if (unread !== undefined)
    return unknown(
      unread.rejected > 0
        ? `${plural(unread.rejected, 'row')} of the files of ${unread.source} since that day could not be used. The order may be among them.`
        : `${plural(unread.totals, 'row')} of the files of ${unread.source} since that day ${unread.totals === 1 ? 'was' : 'were'} taken for totals because of their amounts. The order may be among them.`,
      {
        label: 'See the rows',
        page: `/rejected?${new URLSearchParams({ source: unread.source })}`,
        command: 'npx influencer-sync rejected',
      },
    );
  const newest = rows.map(({ source, uri }) => `${fileName(uri ?? '')} of ${source}`).join(', ');
  const order = claim.orderId === null ? 'order of yours with this amount' : 'order with this id';
  return answer(
    'not_in_exports',
    `${what} The newest exports with orders of ${claim.day} do not have it: ${newest}.`,
    { reply: `No ${order} was placed on ${claim.day}.` },
  );
}

/** A creator who claims orders, with everything that is known to belong to the same person. */
type Claimant = {
  /** False if no deal, code or credited order names the creator: it may be a typing error. */
  readonly isKnown: boolean;
  /** Folded by `foldHandle`. */
  readonly handles: ReadonlySet<string>;
  readonly deals: ReadonlySet<string>;
  /** Codes of all jobs, folded by `foldCode`. */
  readonly codes: ReadonlySet<string>;
};

/** Whose a deal is, by the mirror, the codes and the credited orders. */
const OWNERS = sql`
  owners as (
    select deal_id, influencer_handle as handle from mirror.deal_versions where is_latest
    union select deal_id, influencer_handle from intake.codes
    union select deal_id, influencer_handle from reporting.deal_totals
  )`;

/** Reads what belongs to a creator. @param creator a handle or a deal, as a person writes it. */
async function readClaimant(db: Database, creator: string): Promise<Claimant> {
  const own = await rowsOf<{ handle: string | null }>(db)`
    with ${OWNERS} select distinct handle from owners where deal_id = ${creator}`;
  const isDeal = own.length > 0;
  const written = isDeal ? own.flatMap(({ handle }) => handle ?? []) : [creator];
  const spellings = (await Promise.all(written.map((handle) => spellingsOf(db, handle)))).flat();
  const deals = await rowsOf<{ id: string }>(db)`
    with ${OWNERS} select distinct deal_id as id
    from owners
    where handle = any(${spellings}::text[]) and deal_id is not null`;
  const ids = [...deals.map(({ id }) => id), ...(isDeal ? [creator] : [])];
  const codes = await rowsOf<{ code: string }>(db)`
    select distinct code_folded as code from intake.codes
    where code_folded is not null
      and (deal_id = any(${ids}::text[]) or influencer_handle = any(${spellings}::text[]))`;
  return {
    isKnown: isDeal || spellings.length > 0,
    handles: new Set(spellings.map(foldHandle)),
    deals: new Set(ids),
    codes: new Set(codes.map(({ code }) => code)),
  };
}

/**
 * Tells whether something is credited to the claimant. Null: it is not known, because the claimant, or whose the deal
 * is, is unknown. Another spelling, or another deal of the same creator, is the claimant.
 */
async function isOf(db: Database, claimant: Claimant, { dealId, handle }: Credited): Promise<boolean | null> {
  if (dealId !== null && claimant.deals.has(dealId)) return true;
  const rows = await rowsOf<{ handle: string }>(db)`
    with ${OWNERS} select distinct handle from owners where deal_id = ${dealId} and handle is not null`;
  const handles = [...rows.map((row) => row.handle), ...(handle === null ? [] : [handle])].map(foldHandle);
  if (handles.some((one) => claimant.handles.has(one))) return true;
  return handles.length > 0 && claimant.isKnown && claimant.handles.size > 0 ? false : null;
}

/**
 * Tells of everything that the versions of an order carry whether it is the claimant's: true, false if it belongs to a
 * known other creator, and null if it is not known whose it is. Empty: the order carries nothing.
 *
 * @param decided the decision, which says whose a link is.
 */
async function ownsEvidence(
  db: Database,
  claimant: Claimant,
  { versions, attributions }: Pick<OrderLife, 'versions' | 'attributions'>,
  decided: OrderAttribution | undefined,
): Promise<readonly (boolean | null)[]> {
  const counted = versions.filter(({ fileState }) => fileState === 'sealed');
  const found: (boolean | null)[] = counted.some(({ isCurrent }) => isCurrent) ? [] : [null];
  const jobs = new Set(attributions.map(({ job }) => job));
  const codes = new Set(counted.flatMap((version) => version.codes.map(foldCode)));
  const rows = await rowsOf<Credited & { readonly code: string; readonly job: string }>(db)`
    select code_folded as code, job, deal_id as "dealId", influencer_handle as handle from intake.codes
    where code_folded = any(${[...codes]}::text[])`;
  for (const code of codes) {
    // What a code of another job says is no proof that it belongs to nobody else.
    const owners = rows.filter((row) => row.code === code && jobs.has(row.job));
    const isOwner = await Promise.all(owners.map((owner) => isOf(db, claimant, owner)));
    if (claimant.codes.has(code) || isOwner.includes(true)) found.push(true);
    else found.push(isOwner.length > 0 && !isOwner.includes(null) ? false : null);
  }
  const links = new Set(counted.flatMap((version) => version.links));
  const winner = { dealId: decided?.dealId ?? null, handle: decided?.influencerHandle ?? null };
  // Only of the link that decided it is known whose it is.
  const isDecided = links.size === 1 && decided?.matchedBy === 'link';
  if (links.size > 0) found.push(isDecided ? await isOf(db, claimant, winner) : null);
  for (const { dealId, influencerHandle: handle, collabId } of counted) {
    if (dealId === null && handle === null && collabId === null) continue;
    const isOwn = await isOf(db, claimant, { dealId, handle });
    // A handle that nothing else names may be the claimant's, misspelt.
    const isStranger = dealId === null && handle !== null && (await spellingsOf(db, handle)).length === 0;
    found.push(isStranger && isOwn === false ? null : isOwn);
  }
  return found;
}
