import { isCurrency } from './parse-currency.ts';

/** Currencies that are written `$`: dollars, and the pesos and escudos that use the sign. */
const DOLLARS =
  'USD AUD BBD BMD BND BSD BZD CAD FJD GYD HKD JMD KYD LRD NAD NZD SBD SGD SRD TTD TWD XCD ARS CLP COP CUP CVE DOP MXN MOP NIO UYU';

/**
 * What stands next to the digits of amounts, and the currencies that it can mean. In capitals, without blanks and a
 * final point: `kr.` is KR. The codes of ISO 4217 mean themselves.
 */
const TABLE: Readonly<Record<string, string>> = {
  $: DOLLARS,
  US$: 'USD',
  U$S: 'USD UYU',
  U$: 'USD UYU',
  $U: 'UYU',
  A$: 'AUD',
  AU$: 'AUD',
  C$: 'CAD NIO',
  CA$: 'CAD',
  CAN$: 'CAD',
  CDN$: 'CAD',
  NZ$: 'NZD',
  HK$: 'HKD',
  S$: 'SGD',
  SG$: 'SGD',
  MX$: 'MXN',
  MEX$: 'MXN',
  NT$: 'TWD',
  R$: 'BRL',
  B$: 'BSD BMD BBD BND',
  BDS$: 'BBD',
  BZ$: 'BZD',
  CL$: 'CLP',
  COL$: 'COP',
  AR$: 'ARS',
  RD$: 'DOP',
  EC$: 'XCD',
  FJ$: 'FJD',
  G$: 'GYD',
  GY$: 'GYD',
  J$: 'JMD',
  CI$: 'KYD',
  L$: 'LRD',
  N$: 'NAD',
  TT$: 'TTD',
  T$: 'TOP',
  WS$: 'WST',
  Z$: 'ZWL',
  '€': 'EUR',
  '£': 'GBP EGP FKP GIP LBP SDG SHP SSP SYP',
  'E£': 'EGP',
  '¥': 'JPY CNY',
  'JP¥': 'JPY',
  'CN¥': 'CNY',
  元: 'CNY TWD HKD MOP',
  円: 'JPY',
  圓: 'TWD HKD JPY',
  원: 'KRW',
  '₩': 'KRW KPW',
  '₹': 'INR',
  '₨': 'INR PKR LKR NPR MUR SCR',
  RS: 'INR PKR LKR NPR MUR SCR',
  '৳': 'BDT',
  TK: 'BDT',
  '฿': 'THB',
  '₺': 'TRY',
  TL: 'TRY',
  '₽': 'RUB',
  РУБ: 'RUB BYN',
  Р: 'RUB BYN',
  '₴': 'UAH',
  ГРН: 'UAH',
  '₸': 'KZT',
  '₼': 'AZN',
  '₾': 'GEL',
  '֏': 'AMD',
  '₪': 'ILS',
  NIS: 'ILS',
  '₫': 'VND',
  Đ: 'VND',
  '₱': 'PHP CUP',
  '₦': 'NGN',
  '₵': 'GHS',
  'GH₵': 'GHS',
  '₡': 'CRC',
  '₲': 'PYG',
  '₮': 'MNT',
  '₭': 'LAK',
  '៛': 'KHR',
  '؋': 'AFN',
  KR: 'SEK NOK DKK ISK',
  SKR: 'SEK',
  NKR: 'NOK',
  DKR: 'DKK',
  FR: 'CHF XAF XOF XPF BIF CDF DJF GNF KMF RWF',
  SFR: 'CHF',
  CFA: 'XAF XOF',
  FCFA: 'XAF XOF',
  KČ: 'CZK',
  ZŁ: 'PLN',
  FT: 'HUF',
  LEI: 'RON MDL',
  LEU: 'RON MDL',
  ЛВ: 'BGN',
  LV: 'BGN',
  DIN: 'RSD',
  ДИН: 'RSD',
  KM: 'BAM',
  R: 'ZAR',
  RM: 'MYR',
  RP: 'IDR',
  'S/': 'PEN',
  BS: 'BOB VES',
  KSH: 'KES',
  TSH: 'TZS',
  USH: 'UGX',
  DH: 'AED MAD',
  DHS: 'AED MAD',
};

/** All symbols, in capitals, and the currencies that each can mean. */
export const SYMBOLS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(TABLE).map(([symbol, currencies]) => [symbol, currencies.split(' ')]),
);
const CODE = /^[A-Z]{3}$/;

/**
 * Returns the currencies that the text next to the digits of an amount can mean: its symbol, its code, or a code and
 * its symbol (`USD $`). Empty for text that means no currency.
 *
 * @param text in NFKC, with single blanks.
 */
export function currenciesOf(text: string): readonly string[] {
  const written = text.replaceAll(' ', '').replace(/\.$/, '');
  if (CODE.test(written) && isCurrency(written)) return [written];
  const known = SYMBOLS.get(written.toUpperCase());
  if (known !== undefined) return known;
  const code = written.slice(0, 3);
  if (!CODE.test(code) || !isCurrency(code)) return NONE;
  return SYMBOLS.get(written.slice(3).toUpperCase())?.includes(code) === true ? [code] : NONE;
}

const NONE: readonly string[] = [];

/**
 * Returns the currencies that the name of a column of amounts can mean: one for `Kwota PLN`, `Total (€)` and `EUR total`,
 * several for `Price ($)`. Empty if it states none. A code is in capitals, or at the end: `total_eur`, but not `tax on top`.
 */
export function currenciesOfName(name: string): readonly string[] {
  const [, bracketed = ''] = /[([](?:in )?([^()[\]]{1,5})[)\]]/i.exec(name) ?? [];
  const [symbol = ''] = /[A-Za-z]{0,3}\p{Sc}/u.exec(name) ?? [];
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const inCapitals = /\p{Ll}/u.test(name) ? words.filter((word) => CODE.test(word)) : [];
  const last = words.at(-1) ?? '';
  const codes = [...inCapitals, WORDS.has(last.toLowerCase()) ? '' : last.toUpperCase()].filter(isCurrency);
  return (
    [bracketed.trim().toUpperCase(), symbol, ...codes].map(currenciesOf).find(({ length }) => length > 0) ??
    NONE
  );
}

/** Words at the end of a name that are codes by chance. */
const WORDS: ReadonlySet<string> = new Set(['all', 'cup', 'kid', 'mad', 'pen', 'top', 'try']);
