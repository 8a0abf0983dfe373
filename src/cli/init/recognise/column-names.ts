import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { LayoutField } from '../../../core/layout.ts';
import { packageFile } from '../../../core/package.ts';
import { inShellQuotes } from '../../../core/text/printable.ts';
import { isAnswer, isNo } from '../../../intake/customers/map/consent-words.ts';
import {
  headerWords,
  isOfQuantity,
  LOWERING_MEANINGS,
  type LoweringMeaning,
  means,
  says,
  type Terms,
} from '../../../intake/layout/column-words.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import { isCurrency as isCurrencyCode } from '../../../intake/values/parse-currency.ts';

/*
 * What the names of columns and the words in a column of states mean, by the lists of config/words.yaml. A name counts
 * as an order's total only if all of its words are known to mean one: what is not known to be revenue is never proposed as
 * revenue. `Discount Amount`, `Total Tax` and `Net Payout` contain a word for a total, and are none.
 */

type Words = {
  readonly names: Readonly<Partial<Record<LayoutField, Readonly<Record<string, Terms>>>>>;
  readonly of_another: Readonly<Partial<Record<LayoutField, Terms>>>;
  readonly amounts: Readonly<Record<'maybe_total' | 'subtotal', Terms>> & {
    readonly total: Readonly<Record<string, Terms>>;
    readonly others: Readonly<Record<string, Terms>>;
  };
  readonly exchange_rates: Terms;
  readonly minor_units: Terms;
  readonly currency_words: readonly string[];
  readonly with_decimals: readonly string[];
  readonly numbers: Readonly<Record<'always' | 'maybe' | 'unless', Terms>>;
  readonly kinds: Terms;
  readonly renewals: Terms;
  readonly other_order: Terms;
  readonly no_states: Terms;
  readonly places: Terms;
  readonly parts: Terms;
  readonly reports: Readonly<Record<'reward' | 'reward_state' | 'network' | 'settled', Terms>>;
  readonly states: Readonly<Record<string, Terms>>;
  readonly shipments: Terms;
  readonly files: Terms;
};

/** The lists of this package. */
const WORDS = parse(readFileSync(packageFile('config/words.yaml'), 'utf8')) as Words;

/** The words of a text that are more than a list such as `orders` or `export`, joined by hyphens; empty if none is. */
export function withoutListWords(name: string): string {
  return name
    .split('-')
    .filter((word) => !WORDS.files.includes(word) && !/^\d+$/.test(word))
    .join('-');
}

/** True if a text is a word of names of orders' columns, in any of the languages of the lists. */
export function isWordOfNames(text: string): boolean {
  return headerWords(text)
    .split(' ')
    .every((word) => NAME_WORDS.has(word));
}

/** True if a name means something else than a field although it contains one of the field's names. */
export function isOfAnother(header: string, field: LayoutField): boolean {
  return says(headerWords(header), WORDS.of_another[field] ?? []);
}

/**
 * Scores how well a column name fits a field: 1 for one of its best names, less for weaker names or names that contain
 * one, and 0 for none.
 */
export type NameScorer = (header: string, field: LayoutField) => number;

/** Creates a scorer from the lists and the columns of layouts of orders and customers. */
export function nameScorer(all: readonly Layout[]): NameScorer {
  // Who is `user_name` in a list of creators is the buyer in one of orders.
  const layouts = all.filter((layout) =>
    (['orders', 'customers'] as const).some((readFor) => layoutFor(layout, readFor) !== null),
  );
  const known = new Map<LayoutField, ReadonlyMap<string, number>>();
  const scoresOf = (field: LayoutField): ReadonlyMap<string, number> => {
    const { weak = [], ...languages } = WORDS.names[field] ?? {};
    const scored = [
      ...layouts.flatMap(({ columns }) => columns[field] ?? []).map((name) => [name, WEAK_NAME] as const),
      ...weak.map((name, at) => [name, WEAK_NAME + (weak.length - at) / 1_000] as const),
      ...Object.values(languages).flatMap((names) => names.map((name, at) => [name, 1 - at / 100] as const)),
    ];
    return new Map(scored.map(([name, score]) => [headerWords(name), score]));
  };
  return (header, field) => {
    const name = headerWords(header);
    if (name === '') return 0;
    const names = known.get(field) ?? scoresOf(field);
    known.set(field, names);
    const score = names.get(name);
    if (score !== undefined) return score;
    const isPart = [...names.keys()].some((one) => one.length >= 5 && ` ${name} `.includes(` ${one} `));
    return isPart && !isOfAnother(name, field) ? 0.3 : 0;
  };
}

/** Score of a name that is one of a field's, but that other columns have too. */
const WEAK_NAME = 0.6;

/** Score of a name that says "order". Customers have ids too. */
export const SAYS_ORDER = 0.7;

/** What an amount is, by its name. `certain` is false for names that other amounts may have too. */
export type AmountName =
  | { readonly field: 'total' | 'subtotal' | 'refunded'; readonly certain: boolean }
  /** Another amount, and why it is no revenue. `isPaid`: it may be what was paid, or what is left to be paid. */
  | { readonly field: null; readonly why: string; readonly isPaid: boolean };

/** Words before the name of a total that say only whose total it is. */
const OF_ORDER = /^(?:order|cart|basket|checkout|invoice|purchase) (?=\S)/;
/** Words after it that say only that tax is inside, or which currency it has. */
const WITH_TAX =
  / (?:ttc|(?:incl|inc|including|inkl|inclusief|incluye) ?(?:tax|taxes|vat|gst|btw|mwst|ust|iva|tva|moms)?|s dph|税込)$/;

const TOTALS = namesIn(...Object.values(WORDS.amounts.total));
const MAYBE_TOTALS = namesIn(WORDS.amounts.maybe_total);
const SUBTOTALS = namesIn(WORDS.amounts.subtotal);

const NAME_WORDS: ReadonlySet<string> = new Set(
  [...TOTALS, ...namesIn(...Object.values(WORDS.names).flatMap((languages) => Object.values(languages)))]
    .flatMap((name) => name.split(' '))
    .filter((word) => word !== ''),
);

function namesIn(...lists: readonly Terms[]): ReadonlySet<string> {
  return new Set(lists.flat().map(headerWords));
}

/** Names of shares: `Refund %` is no amount. */
const SHARE = /%|\b(?:percent\w*|pct|prozent\w*|porcentaje|percentuale|procent\w*|pourcentage)\b/i;

/** True if a name says that its numbers are shares of an amount. */
export function isShare(header: string): boolean {
  return SHARE.test(header);
}

/** Other amounts that may be a part of a payment, or what is left of it. */
const MAY_BE_PAID = new Set(['a deposit', 'a balance']);

/** Says which amount a column's name means; null if the name says nothing about money that is known. */
export function amountNameOf(header: string): AmountName | null {
  if (isShare(header)) return { field: null, why: 'its name means a share, not an amount', isPaid: false };
  const name = headerWords(header);
  const bare = withoutCurrency(name).replace(WITH_TAX, '');
  const inner = bare.replace(OF_ORDER, '');
  if (SUBTOTALS.has(bare)) return { field: 'subtotal', certain: true };
  if (TOTALS.has(bare) || TOTALS.has(inner)) return { field: 'total', certain: true };
  if (MAYBE_TOTALS.has(inner)) return { field: 'total', certain: false };
  if (means(header, 'refunded') && !isOfQuantity(header)) return { field: 'refunded', certain: true };
  const [what] = Object.entries(WORDS.amounts.others).find(([, terms]) => says(name, terms)) ?? [];
  if (what === undefined) return null;
  return { field: null, why: `its name means ${what}, which is no revenue`, isPaid: MAY_BE_PAID.has(what) };
}

function withoutCurrency(name: string): string {
  const [, before, code = ''] = /^(.*?) (?:in )?([a-z]{3})$/.exec(name) ?? [];
  return before !== undefined && isCurrency(code) ? before : name;
}

/** True if a name says that its numbers are rates at which amounts were exchanged. */
export function isExchangeRate(header: string): boolean {
  return says(headerWords(header), WORDS.exchange_rates);
}

/** True if a name says that its column is about discounts, such as `Coupon 2`: it has amounts, or codes. */
export function isOfDiscount(header: string): boolean {
  return says(headerWords(header), WORDS.amounts.others['a discount'] ?? []);
}

const MINOR_UNITS = namesIn(WORDS.minor_units);

/** True for a word such as `cents`: amounts beside it are a hundred times what they look like. */
export function isMinorUnit(cell: string): boolean {
  return MINOR_UNITS.has(headerWords(cell));
}

/** The column of amounts whose name says that they are in minor units: `total_cents`. */
export function isInMinorUnits(header: string): boolean {
  return (
    header.includes('¢') || [...MINOR_UNITS].some((unit) => ` ${headerWords(header)} `.includes(` ${unit} `))
  );
}

/** True for the code of a currency, in any case. */
export function isCurrency(code: string): boolean {
  return isCurrencyCode(code.toUpperCase());
}

/** True for the code of a currency that is a word or a name as well: `CUP`, `BOB`. */
export function isCurrencyWord(code: string): boolean {
  return WORDS.currency_words.includes(code.toUpperCase());
}

/** True for the code of a currency whose shops write decimals. */
export function isWithDecimals(code: string): boolean {
  return WORDS.with_decimals.includes(code.toUpperCase());
}

/** What a column may say that stops an order from being credited. */
export type Stop = Exclude<LoweringMeaning, (typeof NO_STOPS)[number]>;

/** Meanings for which `init` has rules of its own. */
const STATES = ['status', 'order_status', 'other_status'] as const;
const NO_STOPS = [...STATES, 'currency', 'kind', 'other_order', 'deposit'] as const;

/** The reason for which a column with this name may stop an order; null if its name says none. */
export function stopNameOf(header: string): Stop | null {
  const isStop = (meaning: LoweringMeaning): meaning is Stop => NO_STOPS.every((other) => other !== meaning);
  return LOWERING_MEANINGS.filter(isStop).find((meaning) => means(header, meaning)) ?? null;
}

/**
 * True if the name of a column of refunds is that of their numbers: `Return No`, `Credit note`.
 *
 * @param isWritten whether its values have the decimals of an amount, which decides for a name of both.
 */
export function mayBeNumber(header: string, isWritten: boolean): boolean {
  const name = headerWords(header);
  const { always, maybe, unless } = WORDS.numbers;
  return says(name, always) || (!isWritten && says(name, maybe) && !says(name, unless));
}

/** True if a name says that its column has kinds or states, of which some may not count. */
export function isOfKind(header: string): boolean {
  return says(headerWords(header), WORDS.kinds) && !isOfAnother(header, 'status');
}

/** True if a name says that its column has the id of another order. */
export function isOfAnotherOrder(header: string): boolean {
  return says(headerWords(header), WORDS.other_order);
}

/** True if a name says that its column has the shops or tills that number their orders each by itself. */
export function isOfPlace(header: string): boolean {
  return says(headerWords(header), WORDS.places);
}

/** True if a name says that its column has the place, the seller or the means of payment of an order, and no state. */
export function isOfNoState(header: string): boolean {
  return isOfPlace(header) || says(headerWords(header), WORDS.no_states);
}

/** True if a name says that its column has what one order may have several of, such as its items. */
export function isOfPart(header: string): boolean {
  return says(headerWords(header), WORDS.parts);
}

/** True if a word says that an order renews a subscription. */
export function saysRenewal(word: string): boolean {
  return says(headerWords(word), WORDS.renewals);
}

/** True if a word says of a shipment that it is made or on its way. */
export function saysShipped(word: string): boolean {
  return says(headerWords(word), WORDS.shipments);
}

/** Offsets and abbreviations of zones in the name of a column of times. In small letters, they are words. */
const ZONE =
  /\b(?:(?:UTC|GMT)(?: ?[+-] ?\d{1,2}(?::?\d\d)?)?|[ECMP][SD]T|CES?T|MES?Z|WES?T|EES?T|BST|IST|MSK|SGT|HKT|JST|KST|A[EW][SD]T|NZ[SD]T|BRT)\b/;

/** The zone that the name of a column of times says: `UTC`, `PST`, `GMT+2`. Null: none. */
export function zoneOfName(header: string): string | null {
  const [zone = null] = ZONE.exec(header) ?? [];
  return zone === 'GMT' ? 'UTC' : zone;
}

/** Words beside which a name still says only that an order was refunded or cancelled. */
const OF_STOPS = new Set(
  'a is was has been are were be the order orders ist wurde bestellung werd bestelling est fue flag status yes no y n'.split(
    ' ',
  ),
);

/** True if the name of a stop says more than the stop: `Storno möglich`. */
export function saysMoreThan(header: string, stop: Stop): boolean {
  return headerWords(header)
    .split(' ')
    .some((word) => !OF_STOPS.has(word) && stopNameOf(word) !== stop);
}

/**
 * Says what a file with amounts is if it is no list of a shop's orders: transactions of an affiliate network state sales
 * that may be declined, and a settlement states what was paid out. Null if the header shows neither.
 *
 * @param isTotalStated whether a person has named the column of what customers paid, which a settlement may have, too.
 */
export function otherReportOf(headers: readonly string[], isTotalStated: boolean): string | null {
  const has = (report: keyof Words['reports']): boolean =>
    headers.some((header) => says(headerWords(header), WORDS.reports[report]));
  if (has('reward_state') || (has('reward') && has('network')))
    return 'the transactions of an affiliate network: its sales may be declined, and its ids are not those of the shop. No orders are read from it.';
  const totals = headers.filter((header) => amountNameOf(header)?.field === 'total');
  if (has('settled') && !isTotalStated)
    return `a settlement or a report of payouts, whose amounts may be what was paid out, not what customers paid. No orders are read from it. If ${totals.length === 0 ? 'it lists each order with what the customer paid, name that column' : `${totals.map((name) => JSON.stringify(name)).join(' or ')} is what the customer paid for an order, say so`}: --column ${inShellQuotes(`${totals[0] ?? 'NAME'}=total`)}.`;
  return null;
}

/** Words for the state of an order that are known from exports. */
export type StatusWords = {
  readonly all: ReadonlySet<string>;
  /** True if a word of a column means that an order was paid, in every export or because a person has said so. */
  readonly isPaid: (word: string, header: string) => boolean;
  /** True if a word of a column means in every export that an order is not to be credited. */
  readonly saysNo: (word: string, header: string) => boolean;
  /** True if a name asks whether an order was paid, so that a yes means that it was. */
  readonly asksPaid: (header: string) => boolean;
  /** The word that this program uses for a word, both folded. */
  readonly meaningOf: (word: string) => string;
};

/**
 * Words that mean that an order is paid or completed, in every shop. A word of one layout, such as WooCommerce's
 * `processing`, may mean something else in an unknown export, and what was sent may not be paid: a person is asked.
 */
const CREDITED = ['paid', 'completed', 'complete'];
const NOT_CREDITED = ['cancelled', 'returned', 'open'];

/** How a person may say that a word means paid, folded: of every column, or of one. */
export function waysToSay(word: string, header: string): readonly [anywhere: string, ofColumn: string] {
  return [foldWord(word), foldWord(`${header}=${word}`)];
}

function isYes(word: string): boolean {
  return isAnswer(word) || word.trim() === '1';
}

/**
 * Collects the words that layouts define, and adds those of the lists.
 *
 * @param paid what a person has said to mean paid, folded: `WORD`, or `COLUMN=WORD` for one column. It says nothing about
 * what other columns are.
 */
export function statusWordsOf(
  layouts: readonly Layout[],
  paid: ReadonlySet<string> = new Set(),
): StatusWords {
  const credited = new Set(CREDITED.map(foldWord));
  const pairs = [
    ...layouts.flatMap(({ status }) => Object.entries(status.words)),
    ...Object.entries(WORDS.states).flatMap(([to, words]) => words.map((from) => [from, to] as const)),
  ];
  const translations = new Map(pairs.map(([from, to]) => [foldWord(from), foldWord(to)]));
  const known = layouts.flatMap(({ status }) => status.known.map(foldWord));
  const ofLayouts = new Set(layouts.flatMap(({ status }) => (status.credited ?? []).map(foldWord)));
  const no = new Set([...known.filter((word) => !ofLayouts.has(word)), ...NOT_CREDITED]);
  const meaningOf = (word: string): string => translations.get(foldWord(word)) ?? foldWord(word);
  const paidNames = new Set(['paid', ...(WORDS.states.paid ?? [])].map(headerWords));
  const asksPaid = (header: string): boolean =>
    paidNames.has(headerWords(header).replace(/^(?:is|ist) /, ''));
  /** Whether a person has said that a yes of the column means paid: then a no means that it was not. */
  const saidYes = (header: string): boolean => {
    const ofColumn = foldWord(`${header}=`);
    return [...paid].some((said) => isYes(said.startsWith(ofColumn) ? said.slice(ofColumn.length) : said));
  };
  return {
    asksPaid,
    all: new Set([...credited, ...known, ...ofLayouts, ...translations.keys()]),
    isPaid: (word, header) =>
      credited.has(meaningOf(word)) ||
      (asksPaid(header) && isYes(word)) ||
      waysToSay(word, header).some((said) => paid.has(said)),
    saysNo: (word, header) =>
      no.has(meaningOf(word)) || ((asksPaid(header) || saidYes(header)) && isNo(word)),
    meaningOf,
  };
}
