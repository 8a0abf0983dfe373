import { heldReason, sayStateReason, sayWord, wordOf } from '../../core/held/held-order.ts';
import { formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant, formatMinute } from '../../core/text/format-instant.ts';
import { toPrintableJson, toPrintableLine } from '../../core/text/printable.ts';
import { describeBasis } from '../../core/time/file-age.ts';
import type { TracedRow } from '../../privacy/trace-customer.ts';
import { type Block, facts, item, type Part, say, section, type Tone } from '../../render/block.ts';
import { formatCount, markLookAlikes, plural } from '../../render/text.ts';
import { joinFacts } from '../doubts/doubts.ts';
import { answerOrder, describeAnswer } from './answer-order.ts';
import type { EntryLife, Explained } from './entry-lives.ts';
import type { CustomerLife } from './explain-customer.ts';
import type { AlikeOrder, OrderAttribution, OrderLife, OrderVersion } from './explain-order.ts';

/** What `explain` says: the history of an order, of the records of other kinds of jobs, and of a customer. */

/** Describes the history of one order, from the line in the file to the service's answer. */
export function describeOrderLife(life: OrderLife): readonly Block[] {
  const name = life.orderName === null || life.orderName === life.orderId ? '' : ` (${life.orderName})`;
  const source = life.source === null ? '' : ` of ${life.source}`;
  const pruned = 'earlier versions, which were pruned (retention.order_versions)';
  return [
    say(`Order ${life.orderId}${name}${source}. Times are in UTC.`, { tone: 'bold' }),
    describeAnswer(answerOrder(life)),
    ...section('Compare with', { parts: life.alike.map(describeAlike) }),
    ...section('Stated by', {
      parts: [
        ...(life.hasPrunedVersions ? [item(pruned)] : []),
        ...(life.versions.length === 0 ? [item('no known file')] : life.versions.map(describeVersion)),
        ...life.rejected.map(({ uri, line, reason, isSettled }) =>
          item(
            `${fileName(uri)} line ${formatCount(line)}: not used${isSettled ? ', and settled by a later file' : ''}. ${reason}`,
          ),
        ),
      ],
    }),
    ...section('Attributed', { parts: life.attributions.map(describeAttribution), otherwise: 'not yet' }),
    ...describeEntries(life.entries, describeEntryLife),
  ];
}

function describeEntries(
  entries: readonly EntryLife[],
  describe: (entry: EntryLife) => readonly Part[],
): readonly Block[] {
  const otherwise = 'none: nothing was sent for it, and nothing will be unless it changes';
  return section('Posted', { parts: entries.flatMap(describe), otherwise });
}

function dated(at: Date | null, text: string, detail: string | null = null): Part {
  return { kind: 'dated', at, text, detail };
}

/** A fact with its name. Empty if it is null. */
function named<Value>(value: Value | null, words: (value: Value) => string): string {
  return value === null ? '' : words(value);
}

/** Something that is known, with its name. What is not known has no value, or an empty one. */
export type Fact = readonly [name: string, value: string | Date | null | undefined];

/** What a row of a file states of an order. */
export function factsOfVersion(version: OrderVersion): readonly Fact[] {
  const { currency, codes } = version;
  const money = (amount: string | null) => amount && formatMoney(amount, currency);
  return [
    ['total', money(version.total)],
    ['subtotal', money(version.subtotal)],
    ['refunded', money(version.refunded)],
    ['status', version.status?.replaceAll('_', ' ')],
    ['placed', version.placedAt],
    ['cancelled', version.cancelledAt],
    ['last changed', version.changedAt],
    [codes.length < 2 ? 'code' : 'codes', codes.map(markLookAlikes).join(', ') || 'none'],
    ['links', version.links.join(', ')],
    ['tags name order', version.otherIds.join(', ')],
    ['in doubt:', version.doubt?.replaceAll('_', ' ')],
    ['marked by the layout:', sayExclusion(version.exclusion)],
  ];
}

function sayExclusion(exclusion: string | null): string | null {
  const word = wordOf(exclusion);
  const reason = exclusion?.split(':', 1)[0]?.replaceAll('_', ' ') ?? null;
  return word === null ? reason : `${reason} (${sayWord(word)})`;
}

/** Whether what a row states counts: `in force`, or why not. */
export function roleOf({ fileState, isCurrent, isOlder, ageBasis }: OrderVersion): string {
  if (fileState !== 'sealed') return `file is ${fileState}: does not count`;
  if (isCurrent) return 'in force';
  return isOlder ? `older ${describeBasis(ageBasis)}: changed nothing` : 'replaced';
}

function describeAlike({ source, orderId, orderName, placedAt, amount, currency, state }: AlikeOrder): Part {
  return item(
    joinFacts([
      `order ${orderId}${orderName === null || orderName === orderId ? '' : ` (${orderName})`} of ${source}`,
      named(amount, (one) => formatMoney(one, currency)),
      named(placedAt, (at) => `placed ${formatInstant(at)}`),
      named(state, (one) => one.replaceAll('_', ' ')),
    ]),
  );
}

function describeVersion(version: OrderVersion): Part {
  const lacksCodes = version.codes.length === 0;
  const said = factsOfVersion(version).map(([name, value]) => {
    if (!value) return '';
    if (name === 'code' && lacksCodes) return 'no code';
    return `${name} ${typeof value === 'string' ? value : formatInstant(value)}`;
  });
  const place = `${fileName(version.uri)} line ${version.line}, ${plural(version.rows, 'row')}, run ${version.runId} (${roleOf(version)})`;
  return dated(version.firstSeenAt, place, joinFacts(said));
}

function describeAttribution(one: OrderAttribution): Part {
  const why =
    one.matchedBy === null
      ? (one.matchedValue ?? '')
      : `by ${one.matchedBy} ${one.matchedValue ?? ''}`.trim();
  const decided = joinFacts([
    why,
    named(one.influencerHandle, (handle) => `influencer ${handle}`),
    named(one.dealId, (id) => `deal ${id}`),
    named(one.collabId, (id) => `collaboration ${id}`),
    named(one.brandId, (id) => `brand ${id}`),
    named(one.amount, (amount) => formatMoney(amount, one.currency)),
  ]);
  const { what } = heldReason(one.reason ?? '', one.word);
  const details = [
    decided,
    one.outcome === 'held' && one.reason !== null ? `${what}.` : '',
    named(one.claims, (claims) => `evidence for several owners: ${claims}`),
  ].filter((detail) => detail !== '');
  const title = `${one.outcome}${named(one.reason, (reason) => `: ${reason.replaceAll('_', ' ')}`)} (job ${one.job})`;
  return dated(one.decidedAt, title, details.length === 0 ? null : details.join('\n'));
}

/** Describes a job's explanation of one subject: what files contain, what was decided, what was sent. */
export function describeExplained({ title, sections, entries }: Explained): readonly Block[] {
  return [
    say(`${title}. Times are in UTC.`, { tone: 'bold' }),
    ...sections.flatMap(({ heading, lines, otherwise }) =>
      section(heading, { parts: lines.map(({ at, text, detail }) => dated(at, text, detail)), otherwise }),
    ),
    ...describeEntries(entries, (entry) => [item(entry.subject), ...describeEntryLife(entry)]),
  ];
}

const STATE_TONES: Readonly<Record<string, Tone>> = {
  accepted: 'green',
  in_doubt: 'red',
  rejected: 'yellow',
  held: 'yellow',
};

function describeEntryLife(of: EntryLife): readonly Part[] {
  const said = joinFacts([
    named(of.amount, (amount) => formatMoney(amount, of.currency)),
    named(of.dealId, (id) => `deal ${id}`),
    named(of.collabId, (id) => `collaboration ${id}`),
    sayStateReason(of.stateReason) ?? '',
  ]);
  const state = `entry ${of.entryId} is ${of.state.replaceAll('_', ' ')} since ${formatInstant(of.stateChangedAt)}`;
  return [
    item(said === '' ? state : `${state}\n${said}`, null, STATE_TONES[of.state]),
    ...of.events.map(({ at, kind, text, detail }) =>
      dated(at, `${kind.padEnd(8)} ${text.replaceAll('_', ' ')}`, detail),
    ),
    ...(of.state === 'in_doubt' ? [item(`Settle it: npx influencer-sync review ${of.entryId} --help`)] : []),
  ];
}

/** Describes the history of a customer of one brand, without the e-mail address. */
export function describeCustomerLife(life: CustomerLife): readonly Block[] {
  const { brandId, customerHash, source, firstSeenAt, ordersCount, spent, currency } = life;
  const says = joinFacts([
    named(ordersCount, (count) => plural(count, 'order')),
    named(spent, (amount) => `${currency === null ? amount : formatMoney(amount, currency)} spent`),
  ]);
  return section(`Customer of brand ${brandId}`, {
    parts: facts([
      ['read', `from ${source}, first on ${formatMinute(firstSeenAt)}`],
      ['state', describeState(life)],
      ['consent', describeConsentOf(life)],
      ['says', says],
      ['looked up', describeLookup(life)],
      ['hash', customerHash],
    ]),
  });
}

function describeState(life: CustomerLife): string {
  const { state, stateReason, isWaiting, submissions, submittedAt, runId, sourceType } = life;
  const label = sourceType === null ? '' : ` with the label "${sourceType}"`;
  const when = submittedAt === null ? '' : ` on ${formatMinute(submittedAt)}`;
  const again = isWaiting ? '; waits to be submitted again' : '';
  if (state === 'submitted')
    return `submitted${when}${label}, by run ${runId ?? '?'}${submissions > 1 ? `, ${formatCount(submissions)} times in total` : ''}${again}`;
  if (state === 'refused') return `refused by the service: ${stateReason ?? 'no reason was given'}${again}`;
  if (state === 'unsubscribed')
    return submittedAt === null
      ? 'not submitted: consent is no (unsubscribed)'
      : `not submitted again: consent is no (unsubscribed); was${when}`;
  return isWaiting ? 'waits to be submitted' : 'read, but its file does not count yet';
}

function describeConsentOf({ consent, consentedAt, refusedAt }: CustomerLife): string {
  if (consent === 'unknown') return 'unknown: submitted only if a setting permits it';
  if (consent === 'yes')
    return consentedAt === null ? 'yes, without a date' : `yes, on ${formatMinute(consentedAt)}`;
  return refusedAt === null
    ? 'no'
    : `no, known to hold until ${formatMinute(refusedAt)}; only a yes with a later date replaces it`;
}

function describeLookup({ lookup }: CustomerLife): string {
  if (lookup === null) return '';
  const when = `on ${formatMinute(lookup.lookedUpAt)}`;
  if (lookup.outcome === 'no_match') return `${when}: no match`;
  if (lookup.outcome === 'refused') return `${when}: refused, ${lookup.message ?? 'without a reason'}`;
  const followers = named(lookup.followers, (count) => ` with ${plural(Number(count), 'follower')}`);
  return `${when}: ${lookup.username ?? 'an influencer'}${named(lookup.platform, (platform) => ` on ${platform}`)}${followers}`;
}

const VERDICTS = {
  yes: 'yes',
  no: 'no',
  unknown: 'unknown: neither yes nor no',
  contradicting: 'no: a yes and a no',
  unlisted: 'no: the layout does not list the word, so its row is rejected',
} as const;

/**
 * Describes which row of which file said what about the consent of a person.
 *
 * @param isKnown false if nothing is stored about the person.
 */
export function describeConsentTrace(rows: readonly TracedRow[], isKnown: boolean): readonly Block[] {
  const isNamed = rows.some(({ line }) => line !== null);
  return [
    ...(isNamed ? [] : [say('No file that the sources have now names this person.')]),
    ...section('What the files say now', { parts: rows.map(describeRow) }),
    ...(isKnown || !isNamed
      ? []
      : [say('No file that counts says yes or no for this person, so the person is not submitted.')]),
  ];
}

function describeRow(row: TracedRow): Part {
  const file = `${toPrintableLine(fileName(row.uri))} (source ${row.source}, brand ${row.brandId})`;
  const why = row.held === null ? '' : toPrintableLine(row.held);
  if (row.line === null) return item(`${file}: not read: ${why}`);
  const { line, verdict, consentedAt, refusedAt, mayBeCut, cells } = row;
  const dates = joinFacts([
    named(consentedAt, (at) => `yes of ${formatMinute(at)}`),
    named(refusedAt, (at) => `no until ${formatMinute(at)}`),
  ]);
  const lines = [
    `${file} line ${line}: ${VERDICTS[verdict]}${dates === '' ? '' : ` (${dates})`}`,
    ...(mayBeCut ? ['the row may be cut: it may say something else, or be about another person'] : []),
    ...(row.held === null ? [] : [`does not count, in a file that is held or not read: ${why}`]),
    ...cells.map(
      ({ column, word, says }) =>
        `${toPrintableLine(column)}: ${toPrintableJson(JSON.stringify(word))} says ${says}`,
    ),
  ];
  return item(lines.join('\n'));
}
