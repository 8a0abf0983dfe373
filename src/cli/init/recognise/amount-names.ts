import { headerWords } from './column-synonyms.ts';

/*
 * What a column's name says about money. A name counts as an order's total only if all of its words are known
 * to mean one: what is not known to be revenue is never proposed as revenue. `Discount Amount`, `Total Tax` and
 * `Net Payout` contain a word for a total, and are none.
 */

/** What an amount is, by its name. `certain` is false for names that other amounts may have too. */
export type AmountName =
  | { readonly field: 'total' | 'subtotal' | 'refunded'; readonly certain: boolean }
  /** Another amount, and why it is no revenue. */
  | { readonly field: null; readonly why: string };

/** Words before the name of a total that say only whose total it is. */
const OF_ORDER = /^(?:order|cart|basket|checkout|invoice|purchase) (?=\S)/;
/** Words after it that say only that tax is inside, or which currency it has. */
const WITH_TAX =
  / (?:ttc|(?:incl|inc|including|inkl|inclusief|incluye) ?(?:tax|taxes|vat|gst|btw|mwst|ust|iva|tva)?)$/;

const TOTALS: ReadonlySet<string> = new Set(
  [
    ['total', 'grand total', 'total amount', 'total price', 'total value', 'total sum', 'amount total'],
    ['total paid', 'total charged', 'order amount', 'order value', 'order sum', 'order revenue'],
    ['gesamtbetrag', 'gesamtsumme', 'gesamt', 'gesamtpreis', 'bestellsumme', 'summe'],
    ['totaal', 'totaalbedrag', 'totaal bedrag', 'orderbedrag', 'montant total', 'total commande'],
    ['importe total', 'total del pedido', 'total de la orden', 'total do pedido', 'valor total'],
    ['totale', 'totale ordine', 'importo totale'],
  ].flat(),
);
/** Names that a total has if the file has no other amount with such a name. */
const MAYBE_TOTALS: ReadonlySet<string> = new Set(
  [
    ['amount', 'gross', 'gross amount', 'revenue', 'paid', 'amount paid', 'value'],
    ['betrag', 'umsatz', 'bedrag', 'omzet', 'montant', 'importe', 'importo', 'valor bruto'],
  ].flat(),
);
const SUBTOTALS: ReadonlySet<string> = new Set([
  ...['subtotal', 'sub total', 'zwischensumme', 'subtotaal', 'sous total', 'subtotale', 'order subtotal'],
]);
const REFUND =
  /refund|charge ?backs?|reversed|erstatt|gutschrift|rembours|reembols|rimbors|devol|estorn|terug|\bretour|\breturn(?:s|ed)?\b/;

/** Amounts that lower the total, are part of it, or are not the customer's. The first that matches counts. */
const OTHER_AMOUNTS: readonly (readonly [RegExp, string])[] = [
  [/commission|provision|commissie|comision|comissao|kickback/, 'a commission'],
  [/payout|settle|disburs|deposit|transfer|auszahl|uitbetal/, 'a payout'],
  [
    /discount|rabatt|korting|remise|reduc|descuento|desconto|sconto|nachlass|rebate|coupon|voucher|gutschein|promo|gift ?card/,
    'a discount',
  ],
  [/\btax|vat\b|\bgst\b|mwst|\bust\b|\bbtw\b|\btva\b|\biva\b|steuer|impuesto|imposto|dut(?:y|ies)/, 'a tax'],
  [/shipping|delivery|versand|verzend|livraison|envio|frete|freight|postage|porto/, 'shipping'],
  [/\bfees?\b|gebuhr|frais|charge|handling/, 'a fee'],
  [/balance|outstanding|\bdue\b|saldo|openstaand/, 'a balance'],
  [/profit|margin|marge|cogs|einkauf|inkoop|\bcosts?\b|kosten/, 'a cost or a profit'],
  [/\btips?\b|donation|gratuity|trinkgeld|spende/, 'a tip'],
  [/\bnet\b|netto|\bneto\b|liquido|\bexcl?\b|before|after/, 'an amount after something was taken off'],
  [
    /unit|item|\bline|each|piece|stuck|artikel|product|\bper\b|price|preis|prijs|prix|precio|preco|prezzo/,
    'the price of a part of an order',
  ],
  [/qty|quantity|menge|aantal|count|number|\bno\b|weight|gewicht|percent|rate\b/, 'a number, not an amount'],
];

/** Says which amount a column's name means; null if the name says nothing about money that is known. */
export function amountNameOf(header: string): AmountName | null {
  const name = headerWords(header);
  const bare = withoutCurrency(name).replace(WITH_TAX, '');
  const inner = bare.replace(OF_ORDER, '');
  if (SUBTOTALS.has(bare)) return { field: 'subtotal', certain: true };
  if (TOTALS.has(bare) || TOTALS.has(inner)) return { field: 'total', certain: true };
  if (MAYBE_TOTALS.has(inner)) return { field: 'total', certain: false };
  if (REFUND.test(name)) return { field: 'refunded', certain: true };
  const [, what] = OTHER_AMOUNTS.find(([pattern]) => pattern.test(name)) ?? [];
  return what === undefined ? null : { field: null, why: `its name means ${what}, which is no revenue` };
}

function withoutCurrency(name: string): string {
  const [, before, code = ''] = /^(.*?) (?:in )?([a-z]{3})$/.exec(name) ?? [];
  const isCurrency = Intl.supportedValuesOf('currency').includes(code.toUpperCase());
  return before !== undefined && isCurrency ? before : name;
}

/** What a column may say that stops an order from being credited. */
export type Stop = 'refunded' | 'cancelled' | 'test' | 'draft' | 'disputed';

const STOPS: readonly (readonly [Stop, RegExp])[] = [
  ['refunded', REFUND],
  ['cancelled', /cancel|storn|annul|anul|\bvoid/],
  ['test', /\btest(?:s|ing)?\b|sandbox/],
  ['draft', /\bdraft|entwurf|borrador/],
  ['disputed', /fraud|betrug|dispute/],
];

/** The reason for which a column with this name may stop an order; null if its name says none. */
export function stopNameOf(header: string): Stop | null {
  const name = headerWords(header);
  return STOPS.find(([, pattern]) => pattern.test(name))?.[0] ?? null;
}

const REWARD = /commission|provision|commissie|comision|comissao|earning|reward|bounty|payout/;
const NETWORK = /publisher|advertiser|affiliate|network|programme?\b|campaign|click|validation|decline|media/;
const SETTLED = /settlement|payout|disbursement|auszahlung|uitbetaling|liquidacion|available on/;

/**
 * Says what a file with amounts is if it is no list of a shop's orders: transactions of an affiliate network
 * state sales that may be declined, and a settlement states what was paid out.
 *
 * @returns null if the header shows neither.
 */
export function otherReportOf(headers: readonly string[]): string | null {
  const names = headers.map(headerWords);
  const has = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
  const isFee = (name: string): boolean => /\bfees?\b|gebuhr/.test(name);
  const isTotal = (header: string): boolean => {
    const amount = amountNameOf(header);
    return amount?.field === 'total' && amount.certain;
  };
  if (has(/commission (?:status|state)/) || (has(REWARD) && has(NETWORK)))
    return 'the transactions of an affiliate network: its sales may be declined, and its ids are not those of the shop';
  if (has(SETTLED) || (names.some(isFee) && has(/\bnet\b|netto/) && !headers.some(isTotal)))
    return 'a settlement or a report of payouts: its amounts are what was paid out, not what customers paid';
  return null;
}
