import { toNfc, toNfkc } from './normal-form.ts';

/*
 * The identity of an order is its platform and its id, folded: a difference in spelling that means nothing makes
 * no difference. The SQL functions `ledger.fold_order_id`, `fold_platform` and `order_key` have the same rules
 * (sql/migrations/0095_baseline.sql).
 */

/** Matches ids that folding leaves as they are. */
const PLAIN = /^[0-9A-Za-z#_/.-]+$/;
/** Characters that have no width and no meaning of their own, and anchors of annotations. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]+/gu;
/** `！` to `～`, which are `!` to `~` in the width of a Chinese character. */
const FULL_WIDTH = /[\uff01-\uff5e]/g;
const FULL_WIDTH_OFFSET = 0xfee0;
const BLANKS = /\s+/g;
/** Quotes and the `=` of `="5001"`, with which spreadsheets and exports mark text; never part of an id. */
const BEFORE = /^[ '"=]+/;
const AFTER = /(?<![ '"])[ '"]+$/;

/**
 * Folds an order id: without invisible characters, outer blanks and quotes, `="…"` and a leading apostrophe, with plain
 * instead of full-width characters, in NFC. Ids that differ only in these are one order. `="5001"`, `'5001` and
 * `５００１` are 5001; `#5001` and `05001` are not (see `similarId`). Empty if nothing is left.
 */
export function foldOrderId(id: string): string {
  if (PLAIN.test(id)) return id;
  const narrow = id
    .replace(INVISIBLE, '')
    .replace(FULL_WIDTH, (wide) => String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH_OFFSET));
  return toNfc(narrow).replace(BLANKS, ' ').replace(BEFORE, '').replace(AFTER, '');
}

/** Folds the name of a shop platform: like an order id, and A to Z in lower case. `HShop` and `hshop` are equal. */
export function foldPlatform(platform: string): string {
  return foldOrderId(platform).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the identity of an order as text: equal for every spelling of one order of one platform. */
export function orderKey(platform: string, orderId: string): string {
  return JSON.stringify([foldPlatform(platform), foldOrderId(orderId)]);
}

/** Returns the number in an id of GraphQL, which the layouts of such exports read; other ids as they are. */
export function withoutGlobalId(id: string): string {
  return GLOBAL_ID.test(id.toLowerCase()) ? id.replace(/^.*\//, '') : id;
}

/** Matches ids that are their own loose form, as nearly all are. */
const LOOSE = /^(?:0|[1-9]\d*(?:-\d+)*)$/;
const GROUPED = /^\d{1,3}(?:[.,_·]\d{3})+$/;
/** Marks and words that lists and people put before and after an id. */
const MARKS_BEFORE = /^(?:[#0[(*+-]|(?:order|nr|no|n°|id)[.:]?(?=[#\d]))+(?=.)/;
const MARKS_AFTER = /(?<![\])*,;:.#/\\_-])[\])*,;:.#/\\_-]+$/;
const DASH = /[\p{Pd}\u2212]/gu;
/** Cyrillic and Greek letters that look like Latin ones as capitals or in lower case, and the Latin ones in the same order. */
const LOOK_ALIKE = 'авсеніјкморѕтухαβεζηικμνορτυχ';
const LATIN = 'abcehijkmopstyxabezhikmnoptyx';
const LOOK_ALIKES = /[а-џα-ω]/g;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;
/** The id of an order as GraphQL writes it: `gid://shopify/Order/5601`, which other exports call 5601. */
const GLOBAL_ID = /^gid:\/\/[a-z]+\/order\/(?=\d+$)/;

/**
 * Returns the loose form of an order id, in which other tools may write it: lower case, with the digits 0 to 9 for those of
 * other scripts, `-` for other dashes and Latin letters for those that look like them, without a leading `#`, `№`, `No.`,
 * `Order`, `+`, bracket or `*`, blanks, apostrophes, leading zeros, separators of thousands, `.0` or punctuation at the end
 * and `gid://shopify/Order/`. Two orders of one platform with one loose form may be one order: `#1000`, `1,000`, `[1000]`,
 * `1000;`, `Order 1000` and `01000` are similar to 1000.
 *
 * @param id an id as `foldOrderId` returns it.
 * @returns null if the id is its own loose form, as plain numbers are.
 */
export function similarId(id: string): string | null {
  if (LOOSE.test(id)) return null;
  const visible = toNfkc(id.replace('№', '#'))
    .replace(OTHER_DIGIT, valueOfDigit)
    .toLowerCase()
    .replace(DASH, '-')
    .replace(LOOK_ALIKES, (letter) => LATIN[LOOK_ALIKE.indexOf(letter)] ?? letter)
    .replace(/[\s'\u2019]+/g, '')
    .replace(MARKS_AFTER, '')
    .replace(GLOBAL_ID, '')
    .replace(MARKS_BEFORE, '');
  const loose = GROUPED.test(visible) ? visible.replace(/\D/g, '') : visible.replace(/^(\d+)[.,]0+$/, '$1');
  return loose === '' || loose === id ? null : loose;
}

/** The digits of a script follow each other from its zero on. */
function valueOfDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}
