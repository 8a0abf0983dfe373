import { domainToASCII } from 'node:url';
import { INVISIBLE, toNfkc } from '../../../core/text/normal-form.ts';
import type { Fault } from '../../map/fault.ts';

/** Matches nearly every address. Such an address needs no change. */
const PLAIN = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
/** The dot-atom of RFC 5322, and letters of any script (RFC 6531). */
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;
/** From RFC 5321. */
const MAX_LOCAL_CHARS = 64;
const MAX_CHARS = 254;
/** Room for a name in Punycode. Longer cells are refused without further checks. */
const MAX_CELL_CHARS = 1_000;

/**
 * Parses an e-mail address. Trims it, applies NFKC, removes invisible characters and a spreadsheet's leading
 * apostrophe, and converts the domain to lower-case ASCII (`münchen.example` becomes
 * `xn--mnchen-3ya.example`). The part before the @ keeps its case, because only its server knows whether case
 * matters.
 *
 * @returns the address; empty for a blank cell.
 */
export function parseAddress(cell: string): string | Fault {
  if (cell.length <= MAX_LOCAL_CHARS && PLAIN.test(cell)) return cell;
  const text = toNfkc(cell).replace(INVISIBLE, '').trim().replace(/^'/, '').trim();
  if (text === '') return '';
  if (text.length > MAX_CELL_CHARS) return NO_ADDRESS;
  const at = text.lastIndexOf('@');
  if (at === -1) return NO_ADDRESS;
  const local = text.slice(0, at);
  if (/\s|[<>,;]/.test(text)) return MORE_THAN_AN_ADDRESS;
  const domain = toAscii(text.slice(at + 1));
  if (!LOCAL.test(local) || !DOMAIN.test(domain)) return NO_ADDRESS;
  const isTooLong = Buffer.byteLength(local) > MAX_LOCAL_CHARS || local.length + domain.length >= MAX_CHARS;
  return isTooLong ? NO_ADDRESS : `${local}@${domain}`;
}

/**
 * Finds the addresses in a cell that is none itself: `Jane <jane@example.com>`, `jane@example.com; ben@example.com`,
 * `jane@example.com.`. Rather one too many, because they are those of people who refused.
 */
export function findAddresses(cell: string): readonly string[] {
  return cell
    .slice(0, MAX_CELL_CHARS)
    .split(/[\s<>()[\]",;:|?/\\]+/)
    .flatMap((part) => {
      const address = parseAddress(part.replace(/^[^\p{L}\p{N}_]+|[^\p{L}\p{N}]+$/gu, ''));
      return typeof address === 'string' && address !== '' ? [address] : [];
    });
}

function toAscii(domain: string): string {
  const lower = domain.toLowerCase();
  if (DOMAIN.test(lower)) return lower;
  // Node reads the domain as that of a URL, and would drop what follows a ?, # or /, and decode a %.
  return /[^a-z0-9.\u0080-\u{10ffff}-]/u.test(lower) ? '' : domainToASCII(lower);
}

/** Folds an address to identify a person. No mail server distinguishes people by the case of letters. */
export function foldAddress(address: string): string {
  return address.toLowerCase();
}

const NO_ADDRESS: Fault = {
  code: 'bad_address',
  reason: 'This is not an e-mail address.',
  help: 'Write one address, with @ and a domain, or leave the cell empty.',
};
const MORE_THAN_AN_ADDRESS: Fault = {
  code: 'bad_address',
  reason: 'The cell contains more than one e-mail address, or other text.',
  help: 'Write only the address, like jane@example.com.',
};
