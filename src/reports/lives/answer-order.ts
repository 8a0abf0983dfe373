import { BELOW_ZERO, heldReason, REFUNDS_APART, sayStateReason } from '../../core/held/held-order.ts';
import { formatMoney, isMore, isSameAmount, subtractMoney } from '../../core/money.ts';
import { helpForCodesInText } from '../../core/text/codes-in-text.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { shellWord } from '../../core/text/printable.ts';
import { type Block, say } from '../../render/block.ts';
import { markLookAlikes } from '../../render/text.ts';
import { sayDecided } from '../held/describe-held-orders.ts';
import { type Change, creditedBy, type EntryLife, isInQuestion } from './entry-lives.ts';
import type { CodeOwner, OrderAttribution, OrderLife, OrderVersion } from './explain-order.ts';

/** What became of something, in one or two sentences, and what a person can do about it. */
export type Answer = {
  readonly text: string;
  readonly tone: 'green' | 'yellow' | 'red' | 'dim';
  readonly next: {
    readonly label: string;
    /** Page of the console, below its base path. */
    readonly page: string;
    readonly command: string;
  } | null;
};

export type OrderAnswer = Answer & {
  readonly kind:
    | 'credited'
    | 'in_doubt'
    | 'refused'
    | 'written_off'
    | 'waiting'
    | 'not_sent'
    | 'held'
    | 'no_code'
    | 'excluded'
    | 'no_owner'
    | 'row_rejected'
    | 'undecided';
};

function answer(
  kind: OrderAnswer['kind'],
  tone: Answer['tone'],
  text: string,
  next: Answer['next'] = null,
): OrderAnswer {
  return { kind, tone, text, next };
}

/** Renders an answer for a terminal or a report. */
export function describeAnswer({ text, tone, next }: Answer): Block {
  return say(
    text,
    next === null ? { tone } : { tone, commands: { about: next.label, lines: [next.command] } },
  );
}

/** Whether an order was credited, to whom, and if not, why not and what to do about it. */
export function answerOrder(life: OrderLife): OrderAnswer {
  const { entry, decided } = decisiveOf(life);
  const isUnsent = entry === undefined || ['ready', 'held', 'rejected'].includes(entry.state);
  if (decided?.outcome === 'held' && isUnsent) return answerHeld(decided, life);
  if (entry !== undefined) return answerEntry(entry, decided, life);
  if (decided !== undefined) return answerDecided(decided, life);
  const rejected = life.rejected.find(({ isSettled }) => !isSettled);
  if (rejected !== undefined)
    return answer(
      'row_rejected',
      'yellow',
      `Not read: line ${rejected.line} of ${fileName(rejected.uri)} could not be used. ${rejected.reason} ${rejected.help}`,
      {
        label: 'See the row',
        page: `/rejected/${rejected.sourceFileId}/${rejected.record}`,
        command: `npx influencer-sync rejected --file ${shellWord(fileName(rejected.uri))}`,
      },
    );
  return answer('undecided', 'dim', 'Not decided yet: the next run of its job decides.');
}

/** The entry and the decision that say what became of an order. */
export function decisiveOf({ entries, attributions }: Pick<OrderLife, 'entries' | 'attributions'>): {
  readonly entry: EntryLife | undefined;
  readonly decided: OrderAttribution | undefined;
} {
  // What was sent says more than what was decided. The state that needs a person comes first.
  const [entry] = entries.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || Number(other.entryId) - Number(one.entryId),
  );
  return { entry, decided: attributions.find(({ outcome }) => outcome !== 'organic') ?? attributions[0] };
}

/** Tells whether a decision names those to whom the entry was sent. The order may be another creator's by now. */
export function isDecisionOf(entry: EntryLife, decided: OrderAttribution | undefined): boolean {
  const sent = JSON.parse(entry.body) as Readonly<Record<string, unknown>>;
  return (
    decided !== undefined &&
    (sent.deal_id ?? decided.dealId) === decided.dealId &&
    (sent.collab_id ?? decided.collabId) === decided.collabId &&
    (sent.influencer_handle ?? decided.influencerHandle) === decided.influencerHandle
  );
}

const IN_QUESTION: Readonly<Record<Change['kind'], string>> = {
  changed: 'It is not known what it comes to now.',
  refunded: 'It is not known what it comes to now.',
  cancelled: '',
  excluded: '',
  held: 'It is held since, so it is not known what it comes to now, and for whom.',
  reattributed:
    'It names another creator since. The service cannot move it: settle the difference between the two.',
};

/** What of an order counts now, if it is another amount than was sent. Empty: the same, or it is not known. */
export function sayAmountNow({ change, amount, currency }: EntryLife): string {
  if (change?.newAmount == null || change.newAmount === amount) return '';
  const what = change.kind === 'refunded' ? 'It was refunded' : 'The order has changed';
  return ` ${what} since: ${formatMoney(change.newAmount, currency)} counts now.`;
}

/** What an order comes to since it was credited. Empty: what was sent. */
function sayChange(entry: EntryLife): string {
  const { change, amount, currency } = entry;
  if (change === null) return '';
  const { kind, detail, amountBefore, isGone, isDecision } = change;
  if (isGone) return ` It does not count any more. ${detail ?? `The order was ${kind} since.`}`;
  if (isInQuestion(change))
    return ` ${IN_QUESTION[kind]}${amountBefore === null || amountBefore === amount ? '' : ` Before that, it came to ${formatMoney(amountBefore, currency)}.`}`;
  return `${isDecision && detail !== null ? ` ${detail}` : ''}${sayAmountNow(entry)}`;
}

/** What became of an order that was credited: what it comes to now, and where a person decides that. */
function answerCredited(credited: string, entry: EntryLife, life: OrderLife): OrderAnswer {
  const { currency, change } = entry;
  const statedIn = life.versions.find(({ isCurrent }) => isCurrent)?.currency ?? currency;
  const isRestated = statedIn !== currency;
  const stated = isRestated ? ` An export states it in ${statedIn} since.` : '';
  const text = `${credited}${sayRefunded(life, entry)}${stated}${sayChange(entry)}`;
  if (change === null) return answer('credited', 'green', text);
  const tone = isInQuestion(change) ? 'yellow' : change.isGone ? 'dim' : 'green';
  const held = life.attributions.find(({ job, outcome }) => job === entry.job && outcome === 'held');
  if (held !== undefined) return answer('credited', tone, text, answerHeld(held, life).next);
  const isDecidable = (change.kind === 'held' || change.isDecision) && (isRestated || change.wasDecided);
  if (!isDecidable) return answer('credited', tone, text);
  const query = new URLSearchParams({ source: life.source ?? '', order: life.orderId });
  // A decision can be replaced by the other one.
  const other = change.isDecision ? ` --as ${change.isGone ? 'sent' : 'returned'} --reason '…'` : '';
  return answer('credited', tone, text, {
    label: 'Decide what it comes to',
    page: `/restated?${query}`,
    command: `npx influencer-sync statement restated --order ${shellWord(life.orderId)}${other}`,
  });
}

const RANKS = ['in_doubt', 'sending', 'accepted', 'rejected', 'ready', 'held', 'written_off'];

function rankOf({ state }: EntryLife): number {
  return RANKS.indexOf(state);
}

function answerEntry(entry: EntryLife, decided: OrderAttribution | undefined, life: OrderLife): OrderAnswer {
  const { entryId, state, stateReason, stateChangedAt, amount, currency } = entry;
  const sent = creditedBy(entry);
  const decidedSo = isDecisionOf(entry, decided) ? decided : undefined;
  const dealId = sent.dealId ?? decidedSo?.dealId ?? null;
  const who = sent.handle ?? decidedSo?.influencerHandle ?? entry.owner;
  const whom = who ?? (dealId === null ? 'its creator' : `deal ${dealId}`);
  const deal = who === null || dealId === null ? '' : ` (deal ${dealId})`;
  const money = amount === null ? '' : `: ${formatMoney(amount, currency)}`;
  const day = formatInstant(stateChangedAt).slice(0, 10);
  const why = sayStateReason(stateReason);
  const reason = why === null ? '' : `: ${why.replace(/\.$/, '')}`;
  const settle = (label: string, how: string) => ({
    label,
    page: `/doubts?entry=${entryId}`,
    command: `npx influencer-sync review ${entryId} ${how}`,
  });
  switch (state) {
    case 'accepted':
      return answerCredited(`Credited to ${whom}${deal} on ${day}${money}.`, entry, life);
    case 'in_doubt':
      return answer(
        'in_doubt',
        'red',
        `In doubt: it was sent for ${whom}${deal}${money}, but no answer says whether it was credited${reason}. It is not sent again until you decide.`,
        settle('Settle it', '--help'),
      );
    case 'rejected':
      return answer(
        'refused',
        'yellow',
        `Not credited: the service refused it for ${whom}${deal}${reason}. If codes.csv names a wrong deal or handle, correct it: the next run sends it again. If the service was corrected, send it again.`,
        settle('Send it again', "--resend --reason '…'"),
      );
    case 'written_off':
      return answer(
        'written_off',
        'dim',
        `Not known: it was written off on ${day}, so it is never sent again. Nothing to do: this is final, and no statement has the order.`,
      );
    case 'sending':
      return answer('waiting', 'dim', `It is being sent for ${whom}${deal} now${money}.`);
    case 'held':
      return answer('not_sent', 'yellow', `Not sent${reason}.`);
    default:
      return answer(
        'waiting',
        'yellow',
        `Waiting${reason}: the next run sends it for ${whom}${deal}${money}.`,
      );
  }
}

/**
 * What was refunded by now, according to the version in force, and whether what was sent is without it. If the version is
 * in another currency than what was sent, also what was refunded when the order was last stated in that currency:
 * statements take it off.
 */
export function sayRefunded({ versions }: OrderLife, sent: EntryLife): string {
  const current = versions.find(({ isCurrent }) => isCurrent);
  const before = versions.findLast(
    ({ fileState, isOlder, currency }) => fileState === 'sealed' && !isOlder && currency === sent.currency,
  );
  const refundOf = (version: OrderVersion | undefined) =>
    version?.refunded != null && isMore(version.refunded, '0')
      ? formatMoney(version.refunded, version.currency)
      : null;
  const [now, then] = [refundOf(current), before === current ? null : refundOf(before)];
  const isLeftOut = current !== undefined && isWithoutRefund(sent, current);
  return [
    now === null
      ? ''
      : isLeftOut
        ? ` The refund of ${now} is already subtracted.`
        : ` Refunded by now: ${now}.`,
    then === null ? '' : ` Refunded when it was last stated in ${sent.currency}: ${then}.`,
  ].join('');
}

/** True if what was sent is the total less the refund, and cannot be the subtotal, from which a job subtracts none. */
function isWithoutRefund(
  { amount, currency, change }: EntryLife,
  { total, subtotal, refunded, ...stated }: OrderVersion,
): boolean {
  // An order that is held is still worth what it was before.
  const isChanged = change !== null && (change.kind !== 'held' || change.amountBefore !== null);
  if (amount === null || isChanged || stated.currency !== currency) return false;
  if (total === null || refunded === null || (subtotal !== null && isSameAmount(subtotal, amount)))
    return false;
  return isSameAmount(subtractMoney(total, refunded), amount);
}

function answerHeld(
  { job, reason, word, amount, currency, decision }: OrderAttribution,
  life: OrderLife,
): OrderAnswer {
  const { what, fix } = heldReason(reason ?? '', word);
  const money = amount === null ? '' : `, ${formatMoney(amount, currency)}`;
  const decided = sayDecided(decision);
  if (decided !== null) return answer('held', 'dim', `Held${money}: ${what}. ${decided}`);
  const query = new URLSearchParams({
    job,
    ...(life.source === null ? {} : { source: life.source }),
    why: reason ?? '',
    order: life.orderId,
  });
  return answer('held', 'yellow', `Held${money}: ${what}. ${fix}`, {
    label: 'Decide about it',
    page: `/held?${query}`,
    command: `npx influencer-sync review --held --order ${shellWord(life.orderId)}`,
  });
}

/** What follows from the exclusion of an order that another state of the order does not change. */
const EXCLUDED: Readonly<Record<string, string>> = {
  credited_elsewhere:
    'Nothing to do: a list of orders that were credited elsewhere names it (ledger seeds). If the list is wrong, withdraw it with `ledger unseed`.',
  ruled_out: 'Nothing to do: a person decided that it is never credited.',
  source_removed: 'Nothing to do: the job does not read its source any more.',
  other_brand: 'Nothing to do: it names another brand than that of the job.',
};

function answerDecided(decided: OrderAttribution, life: OrderLife): OrderAnswer {
  const reason = decided.reason?.replaceAll('_', ' ') ?? 'the rules of the job say so';
  const then = 'Nothing to do: if a later export states it otherwise, the next run decides again.';
  switch (decided.outcome) {
    case 'organic':
      return answer('no_code', 'dim', `Not credited: it carries no code, link or name of a creator. ${then}`);
    case 'excluded':
      if (decided.reason === BELOW_ZERO)
        return answer(
          'excluded',
          'yellow',
          `Not credited: it is below zero and lowers no order, so what it refunds may count in full. ${REFUNDS_APART}`,
        );
      if (decided.reason === 'before_start') return answerBeforeStart(decided);
      return answer(
        'excluded',
        'dim',
        `Not credited: it is excluded (${reason}). ${EXCLUDED[decided.reason ?? ''] ?? then}`,
      );
    case 'unattributed':
      return answerUnowned(decided, life);
    default:
      return answer(
        'waiting',
        'yellow',
        `Not sent yet: the next run of ${decided.job} prepares it for ${decided.influencerHandle ?? 'its creator'}.`,
      );
  }
}

/** An order from before the start date of its job: only a backfill that has it in its plan credits it. */
function answerBeforeStart({ job, backfill }: OrderAttribution): OrderAnswer {
  const text = 'Not credited: it is excluded (before start). It is from before the start date of the job.';
  const unless = 'If nothing else has credited such orders, plan';
  if (backfill === null)
    return answer('excluded', 'dim', `${text} ${unless} a backfill.`, {
      label: 'See the backfills',
      page: `/backfills?${new URLSearchParams({ job })}`,
      command: `npx influencer-sync backfill ${job} --from … --to … --plan`,
    });
  const { id, state } = backfill;
  const isOver = state === 'done' || state === 'cancelled';
  return answer(
    'excluded',
    'dim',
    isOver
      ? `${text} Backfill ${id} of its days is ${state} and did not credit it. ${unless} another one.`
      : `${text} Backfill ${id} of its days is ${state}. It credits the order if its plan has the order.`,
    {
      label: 'See the backfill',
      page: `/backfills/${id}`,
      command: isOver
        ? `npx influencer-sync backfill ${job} --from … --to … --plan`
        : `npx influencer-sync backfill resume ${id}`,
    },
  );
}

function answerUnowned({ job, reason, owners, assigned }: OrderAttribution, life: OrderLife): OrderAnswer {
  if (assigned !== null)
    return answer(
      'no_owner',
      'yellow',
      `Not credited yet: the code ${markLookAlikes(assigned.code)} is assigned to ${assigned.owner}. The next run of ${job} decides again.`,
      {
        label: 'See the code',
        page: `/codes/assign?${new URLSearchParams({ job, code: assigned.code })}`,
        command: `npx influencer-sync run ${shellWord(job)}`,
      },
    );
  const current = life.versions.find(({ isCurrent }) => isCurrent);
  const day = current?.placedAt == null ? null : formatInstant(current.placedAt).slice(0, 10);
  const [owner] = owners;
  const code = owner?.code ?? current?.codes[0] ?? null;
  const command = 'npx influencer-sync console --open';
  const why = reason?.replaceAll('_', ' ');
  if (code === null)
    return answer(
      'no_owner',
      'yellow',
      `Not credited: no creator owns what it carries${why === undefined ? '' : ` (${why})`}. When codes.csv or an event of the service names an owner, the next run decides again.`,
      { label: 'See what has no owner', page: `/codes?${new URLSearchParams({ job })}`, command },
    );
  const page = `/codes/assign?${new URLSearchParams({ job, code })}`;
  const fault = owner === undefined ? null : sayFault(owner, reason);
  if (fault === null)
    return answer(
      'no_owner',
      'yellow',
      `Not credited: no creator owns the code ${markLookAlikes(code)}${reason === 'unknown_code' || reason === null ? '' : ` for it (${why})`}. ${helpForCodesInText([code]) ?? 'Add its owner to codes.csv, or assign it in the console.'}`,
      { label: 'Assign the code', page, command },
    );
  return answer(
    'no_owner',
    'yellow',
    `Not credited: ${fault}${day === null || reason === 'code_of_other_brand' ? '' : `; the order is of ${day}`}.`,
    { label: 'See the code', page, command },
  );
}

/**
 * Says that the time of the code was over or had not begun, or that it is of another brand: `SAFFI15 (saffi.paints) ended on
 * 2026-04-15`.
 */
function sayFault(
  { code, owner, validFrom, validTo, ...written }: CodeOwner,
  reason: string | null,
): string | null {
  const name = `${markLookAlikes(code)} (${owner})`;
  // The end is the first instant at which the code is not valid.
  if (reason === 'code_expired' && validTo !== null)
    return `${name} ended on ${written.validToText ?? formatInstant(new Date(validTo.getTime() - 1)).slice(0, 10)}`;
  if (reason === 'code_not_yet_valid' && validFrom !== null)
    return `${name} begins on ${written.validFromText ?? formatInstant(validFrom).slice(0, 10)}`;
  if (reason === 'code_of_other_brand') return `${markLookAlikes(code)} is a code of another brand`;
  return null;
}
