import { foldKey, foldLink } from '../../core/text/fold.ts';
import { maskAddresses, maskContacts } from '../../core/text/mask-addresses.ts';
import { foldOrderId } from '../../core/text/order-key.ts';
import type { Layout } from '../layout/to-layout.ts';
import { cleanText } from '../values/clean-text.ts';

/**
 * Finds texts in an order's notes that may name an influencer: values of `key: value` lines (an address is
 * shortened to its host and path) and query parameters of links.
 */
export type LinkFinder = (notes: string) => readonly string[];

const MAX_LINKS = 20;
/** A code, a handle or a link is short. Longer values are messages. */
const MAX_CHARS = 100;
const MAX_KEY_CHARS = 60;
/** What tools of web analytics write if they know nothing: `(none)`, `(direct)`, `(not set)`. */
const NOTHING_KNOWN = /^\([a-z ]*\)$/i;
/** Servers refuse longer addresses, so no visitor came through one. */
const MAX_ADDRESS_CHARS = 8_192;

/**
 * Creates the finder of a layout. Keys are compared ignoring case, blanks, - and _.
 *
 * Notes contain what a shopper typed, up to the size of a whole record. Therefore the searches never
 * backtrack, and stop at the last link that is kept.
 */
export function linkFinder({ keys, parameters }: Layout['links']): LinkFinder {
  const wantedKeys = new Set(keys.map(foldKey));
  const wantedParameters = new Set(parameters.map(foldKey));
  if (wantedKeys.size + wantedParameters.size === 0) return () => [];
  return (notes) => {
    if (notes === '') return [];
    const found = new Set<string>();
    for (const line of notes.split(/\r\n|\r|\n/)) {
      const pair = wantedKeys.size === 0 ? null : readPair(line);
      if (pair !== null && wantedKeys.has(foldKey(pair.key))) add(found, foldLink(pair.value) ?? pair.value);
      if (wantedParameters.size > 0) addParameters(found, line, wantedParameters);
      if (found.size >= MAX_LINKS) break;
    }
    return [...found].slice(0, MAX_LINKS);
  };
}

/** Reads a cell that contains only a link, code or handle. Returns nothing if it is blank or too long. */
export function linkOf(cell: string): readonly string[] {
  if (cell === '') return [];
  const found = new Set<string>();
  add(found, foldLink(cell) ?? cell);
  return [...found];
}

/** Parses `key: value` or `"key" = value`. Returns null if the line is neither. */
function readPair(line: string): { readonly key: string; readonly value: string } | null {
  const mark = line.search(/[:=]/);
  if (mark === -1) return null;
  const key = line.slice(0, mark).trim().replace(/^"/, '').replace(/"$/, '').trim();
  if (key === '' || key.length > MAX_KEY_CHARS) return null;
  const value = line.slice(mark + 1).trim();
  return value === '' || value.length > MAX_ADDRESS_CHARS ? null : { key, value };
}

function addParameters(found: Set<string>, line: string, wanted: ReadonlySet<string>): void {
  for (const [, name = '', value = ''] of line.matchAll(/[?&]([\w.-]{1,60})=([^&#\s"'<>]+)/g)) {
    if (value.length <= MAX_ADDRESS_CHARS && wanted.has(foldKey(name))) add(found, decode(value));
    if (found.size >= MAX_LINKS) return;
  }
}

function add(found: Set<string>, value: string): void {
  const link = maskAddresses(cleanText(value));
  if (link === '' || NOTHING_KNOWN.test(link)) return;
  if (link.length <= MAX_CHARS && !/^https?:\/\//i.test(link)) found.add(link);
}

function decode(value: string): string {
  const spaced = value.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced; // A stray % is part of the value.
  }
}

const MAX_IDS = 10;
const PARTS = /[,;\r\n]+/;
/** Ids of marketplaces, such as `112-1234567-1234567`. Shorter ones are years, sizes and names of campaigns. */
const ID = /^#?\w[\w./-]{4,38}\w$/;
const MIN_DIGITS = 5;
/** Keys in notes whose value is an order id: `Amazon Order Id`, `ebay_order_number`. */
const NAMES_ORDER = /order/i;

/**
 * Finds the ids that tags and notes of an order may name it by at another channel: `Amazon, 112-1234567-1234567`, or
 * `Amazon Order Id: 112-1234567-1234567`. A value whose key does not speak of an order is none: it may be a phone number.
 *
 * @param slots places of the cells in `values`.
 * @returns folded ids without duplicates, at most 10.
 */
export function findIds(slots: readonly number[], values: readonly string[]): readonly string[] {
  if (slots.every((slot) => (values[slot] ?? '') === '')) return NO_IDS;
  const found = new Set<string>();
  for (const part of slots.flatMap((slot) => (values[slot] ?? '').split(PARTS))) {
    const mark = part.search(/[:=]/);
    if (mark !== -1 && !NAMES_ORDER.test(part.slice(0, mark))) continue;
    const text = part.slice(mark + 1).trim();
    if (!ID.test(text) || text.replace(/\D/g, '').length < MIN_DIGITS) continue;
    found.add(foldOrderId(text));
    if (found.size === MAX_IDS) break;
  }
  return found.size === 0 ? NO_IDS : [...found];
}

const NO_IDS: readonly string[] = [];

/** The longest note, in characters. */
const MAX_NOTE = 500;
/** How much of the notes is read. */
const MAX_READ = 4_000;

/**
 * Reads the notes of an order as one text that may be sent: e-mail addresses and phone numbers are masked.
 *
 * @param slots places of the cells in `values`.
 */
export function noteOf(slots: readonly number[], values: readonly string[]): string | null {
  if (slots.length === 0) return null;
  const written = slots.map((slot) => cleanText(values[slot] ?? '')).filter((text) => text !== '');
  const masked = maskContacts(written.join('; ').slice(0, MAX_READ)).toWellFormed();
  const characters = Array.from(masked);
  if (characters.length > MAX_NOTE) return `${characters.slice(0, MAX_NOTE - 1).join('')}…`;
  return masked === '' ? null : masked;
}
