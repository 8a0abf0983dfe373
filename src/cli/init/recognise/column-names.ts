import type { LayoutField } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import { currenciesOf } from '../../../intake/values/currency-symbols.ts';

/*
 * What the names of columns and the words in a column of states mean, in English, German, Dutch, French, Spanish,
 * Portuguese, Italian, Polish, Czech and Swedish. Accents in names do not count. A name counts as an order's total only if all of its words are
 * known to mean one: what is not known to be revenue is never proposed as revenue. `Discount Amount`, `Total Tax` and
 * `Net Payout` contain a word for a total, and are none.
 */

/**
 * Column names of custom-built shops, in addition to the spellings that layouts know. The most reliable come first.
 * Amounts are not among them: see `amountNameOf`.
 */
const SYNONYMS: Readonly<Partial<Record<LayoutField, readonly string[]>>> = {
  order_id: listed(`order id, order no, order number, order nr, order, order ref, order reference, order code,
    sales order no, bestellnummer, bestell nr, auftragsnummer, auftrag, bestelnummer, ordernummer, bestelling,
    numero de commande, n commande, commande, référence, numero de pedido, numero de orden, pedido, orden,
    numero ordine, ordine, numero do pedido, codigo do pedido, numero da encomenda, encomenda, id da transacao,
    transaction id, transaction, receipt, receipt id, invoice number, invoice, sale id, sale ref, sale no, reference,
    bonnummer, kassabon, factuurnummer, rechnungsnummer, numero de facture, factura, fattura, numer zamówienia, id zamówienia,
    zamówienie, číslo objednávky, kód objednávky, id objednávky, objednávka, beställningsnummer, beställning, id`),
  status: listed(`order status, payment status, financial status, status, state, order state, bestellstatus,
    zahlungsstatus, zustand, toestand, statut, statut du paiement, estado del pago, estado de la orden,
    estado del pedido, situacao do pagamento, status do pagamento, status do pedido, situacao do pedido, situacao,
    stato ordine, status zamówienia, status płatności, stav objednávky, stav platby, stav, betalstatus, orderstatus,
    état, estado, stato`),
  currency:
    listed(`currency, currency code, order currency, curr, ccy, währung, valuta, munt, devise, moneda, moeda,
    divisa, waluta, měna`),
  codes:
    listed(`discount code, discount codes, coupon code, coupon codes, coupon, coupons, voucher code, voucher,
    promo code, promocode, promotion code, promo, affiliate code, referral code, discount, gutscheincode, gutschein,
    rabattcode, aktionscode, kortingscode, waardebon, actiecode, code promo, code de réduction, bon de réduction,
    cupon, cupón de descuento, código de descuento, cupom, cupom de desconto, código do cupom, código de desconto,
    codice sconto, kod rabatowy, kod promocyjny, kupon rabatowy, kupon, slevový kupón, slevový kód, rabattkod,
    kampanjkod`),
  influencer_handle: listed('influencer handle, influencer, creator, creator handle, affiliate, partner'),
  links: listed('referral link, tracking link, utm campaign, utm_campaign, ref, referrer code'),
  notes: listed(
    'notes, note, order notes, note attributes, comments, comment, landing page, landing site, utm',
  ),
  placed_at:
    listed(`order date, created at, date created, placed at, ordered at, order time, purchase date, sale date,
    bestelldatum, auftragsdatum, datum, besteldatum, orderdatum, date de commande, fecha, fecha de pedido,
    fecha de compra, data do pedido, data da encomenda, data zamówienia, data złożenia, datum objednávky,
    datum vytvoření, beställningsdatum, data, timestamp, created, created on, date, time`),
  paid_at: listed(
    'paid at, paid on, payment date, date paid, bezahlt am, betaald op, fecha de pago, data płatności, datum platby, betaldatum',
  ),
  cancelled_at:
    listed(`cancelled at, canceled at, cancelled on, canceled on, cancelled, canceled, cancellation date,
    storniert am, geannuleerd op, fecha de cancelación`),
  email: listed(`email, e mail, email address, customer email, mail, courriel, correo, correo electrónico,
    e mail adresse`),
  orders_count: listed('orders count, total orders, number of orders, orders'),
  spent: listed('total spent, lifetime value, total spend'),
};

function listed(text: string): readonly string[] {
  return text.split(/,\s+/);
}

/** Names that contain one of a field's names and mean something else. */
const OF_ANOTHER: Readonly<Partial<Record<LayoutField, RegExp>>> = {
  status:
    /ship|fulfil|deliver|versand|verzend|mail|subscri|stock|tax|risk|marketing|customer|payout|affiliate/,
  placed_at:
    /ship|deliver|versand|verzend|entrega|refund|cancel|return|updat|modif|expir|birth|due|payout|paid/,
  codes: /type|amount|value|percent|reason|total|rate|title|descri/,
  order_id:
    /date|time|total|amount|value|status|state|note|qty|quantity|item|count|type|source|channel|currency/,
};

/** True if a name means something else than a field although it contains one of the field's names. */
export function isOfAnother(header: string, field: LayoutField): boolean {
  return OF_ANOTHER[field]?.test(headerWords(header)) ?? false;
}

/**
 * Scores how well a column name fits a field: 1 for one of its best names, less for weaker names or names that contain
 * one, and 0 for none.
 */
export type NameScorer = (header: string, field: LayoutField) => number;

/** Creates a scorer from the synonyms above and the columns of the layouts. */
export function nameScorer(layouts: readonly Layout[]): NameScorer {
  const known = new Map<LayoutField, readonly string[]>();
  const namesOf = (field: LayoutField): readonly string[] => {
    const ofLayouts = layouts.flatMap(({ columns }) => columns[field] ?? []);
    return [...new Set([...(SYNONYMS[field] ?? []), ...ofLayouts].map(headerWords))];
  };
  return (header, field) => {
    const name = headerWords(header);
    if (name === '') return 0;
    const names = known.get(field) ?? namesOf(field);
    known.set(field, names);
    const at = names.indexOf(name);
    if (at !== -1) return at < (SYNONYMS[field]?.length ?? 0) ? 1 - at / 100 : 0.6;
    const isPart = names.some((one) => one.length >= 5 && ` ${name} `.includes(` ${one} `));
    return isPart && !isOfAnother(name, field) ? 0.3 : 0;
  };
}

/**
 * Normalises a header to words, so that `Order-No.` equals `order_no` and `Bestellnr.` equals `Bestellnummer`. Accents
 * are removed: `Número` equals `numero`. `OrderNo` is two words.
 */
function headerWords(name: string): string {
  return foldHeader(name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[#№]/g, ' no ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?:nummer|numer|nr|number|numero|cislo)\b/gu, ' no')
    .replace(/\bnum\b/gu, 'no')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What an amount is, by its name. `certain` is false for names that other amounts may have too. */
export type AmountName =
  | { readonly field: 'total' | 'subtotal' | 'refunded'; readonly certain: boolean }
  /** Another amount, and why it is no revenue. */
  | { readonly field: null; readonly why: string };

/** Words before the name of a total that say only whose total it is. */
const OF_ORDER = /^(?:order|cart|basket|checkout|invoice|purchase) (?=\S)/;
/** Words after it that say only that tax is inside, or which currency it has. */
const WITH_TAX =
  / (?:ttc|(?:incl|inc|including|inkl|inclusief|incluye) ?(?:tax|taxes|vat|gst|btw|mwst|ust|iva|tva|moms)?|s dph)$/;

const TOTALS =
  listed(`total, grand total, total amount, total price, total value, total sum, amount total, total paid,
  total charged, order amount, order value, order sum, order revenue, gesamtbetrag, gesamtsumme, gesamt, gesamtpreis,
  bestellsumme, summe, totaal, totaalbedrag, totaal bedrag, orderbedrag, montant total, total commande, importe total,
  total del pedido, total de la orden, total do pedido, valor total, totale, totale ordine, importo totale, kwota zamówienia, wartość zamówienia,
  razem, celkem, celková cena, cena celkem, ordersumma, totalsumma, totalt`);
/** Names that a total has if the file has no other amount with such a name. */
const MAYBE_TOTALS =
  listed(`amount, gross, gross amount, revenue, paid, amount paid, value, betrag, umsatz, bedrag,
  omzet, montant, importe, importo, valor bruto, sum, brutto, bruttobetrag, bruto, brutobedrag, lordo, som, kwota, suma, summa, belopp`);
const SUBTOTALS = listed(
  'subtotal, sub total, zwischensumme, subtotaal, sous total, subtotale, order subtotal',
);
const REFUND =
  /refund|money ?back|charge ?backs?|reversed|erstatt|gutschrift|rembours|reembols|rimbors|devol|estorn|terug|\bretour|\breturn(?:s|ed)?\b|zwrot|zwroc|vracen|vratk|aterbetal/;

/** Amounts that lower the total, are part of it, or are not the customer's. The first that matches counts. */
const OTHER_AMOUNTS: readonly (readonly [RegExp, string])[] = [
  [/commission|provision|commissie|comision|comissao|kickback/, 'a commission'],
  [/payout|settle|disburs|deposit|transfer|auszahl|uitbetal/, 'a payout'],
  [
    /discount|rabatt|korting|remise|reduc|descuento|desconto|sconto|nachlass|rebate|coupon|voucher|gutschein|promo|gift ?card|znizk|\bslev/,
    'a discount',
  ],
  [
    /\btax|vat\b|\bgst\b|mwst|\bust\b|\bbtw\b|\btva\b|\biva\b|steuer|impuesto|imposto|dut(?:y|ies)|\bdph\b|\bmoms\b|podatek/,
    'a tax',
  ],
  [
    /shipping|delivery|versand|verzend|livraison|envio|frete|freight|postage|porto|dostaw|doprav|frakt/,
    'shipping',
  ],
  [/\bfees?\b|gebuhr|frais|charge|handling/, 'a fee'],
  [/balance|outstanding|\bdue\b|saldo|openstaand/, 'a balance'],
  [/profit|margin|marge|cogs|einkauf|inkoop|\bcosts?\b|kosten/, 'a cost or a profit'],
  [/\btips?\b|donation|gratuity|trinkgeld|spende/, 'a tip'],
  [/\bnet\b|netto|\bneto\b|liquido|\bexcl?\b|before|after/, 'an amount after something was taken off'],
  [
    /unit|item|\bline|each|piece|stuck|artikel|product|\bper\b|price|preis|prijs|prix|precio|preco|prezzo/,
    'the price of a part of an order',
  ],
  [
    /qty|quantity|menge|aantal|\bcount\b|number|\bno\b|weight|gewicht|percent|rate\b/,
    'a number, not an amount',
  ],
];

/** Says which amount a column's name means; null if the name says nothing about money that is known. */
export function amountNameOf(header: string): AmountName | null {
  const name = headerWords(header);
  const bare = withoutCurrency(name).replace(WITH_TAX, '');
  const inner = bare.replace(OF_ORDER, '');
  if (SUBTOTALS.includes(bare)) return { field: 'subtotal', certain: true };
  if (TOTALS.includes(bare) || TOTALS.includes(inner)) return { field: 'total', certain: true };
  if (MAYBE_TOTALS.includes(inner)) return { field: 'total', certain: false };
  if (REFUND.test(name)) return { field: 'refunded', certain: true };
  const [, what] = OTHER_AMOUNTS.find(([pattern]) => pattern.test(name)) ?? [];
  return what === undefined ? null : { field: null, why: `its name means ${what}, which is no revenue` };
}

function withoutCurrency(name: string): string {
  const [, before, code = ''] = /^(.*?) (?:in )?([a-z]{3})$/.exec(name) ?? [];
  return before !== undefined && isCurrency(code) ? before : name;
}

/** The currency that the name of an amount states: `Kwota PLN`, `Total (€)`. Null if it states none, or several have its symbol. */
export function currencyOfName(header: string): string | null {
  const [, bracketed] = /[([]([^()[\]]{1,5})[)\]]$/.exec(header.trim()) ?? [];
  const [, last] = /[\s_]([a-z]{3})$/i.exec(header.trim()) ?? [];
  const stated = bracketed?.trim() ?? last ?? '';
  if (isCurrency(stated)) return stated.toUpperCase();
  const [only = null, ...others] = bracketed === undefined ? [] : currenciesOf(stated);
  return others.length === 0 ? only : null;
}

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** True for the code of a currency, in any case. */
export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code.toUpperCase());
}

/** What a column may say that stops an order from being credited. */
export type Stop = 'refunded' | 'cancelled' | 'test' | 'draft' | 'disputed';

const STOPS: readonly (readonly [Stop, RegExp])[] = [
  ['refunded', REFUND],
  ['cancelled', /cancel|storn|annul|anul|\bvoid|makuler|avbrut/],
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
 * Says what a file with amounts is if it is no list of a shop's orders: transactions of an affiliate network state sales
 * that may be declined, and a settlement states what was paid out. Null if the header shows neither.
 */
export function otherReportOf(headers: readonly string[]): string | null {
  const has = (pattern: RegExp): boolean => headers.some((header) => pattern.test(headerWords(header)));
  const hasTotal = headers.map(amountNameOf).some((amount) => amount?.field === 'total' && amount.certain);
  if (has(/commission (?:status|state)/) || (has(REWARD) && has(NETWORK)))
    return 'the transactions of an affiliate network: its sales may be declined, and its ids are not those of the shop';
  if (has(SETTLED) || (has(/\bfees?\b|gebuhr/) && has(/\bnet\b|netto/) && !hasTotal))
    return 'a settlement or a report of payouts: its amounts are what was paid out, not what customers paid';
  return null;
}

/** Words for the state of an order that are known from exports. */
export type StatusWords = {
  readonly all: ReadonlySet<string>;
  readonly credited: ReadonlySet<string>;
  /** True if a word means in every export that an order is not to be credited. */
  readonly saysNo: (word: string) => boolean;
  /** The word that this program uses for a word, both folded. */
  readonly meaningOf: (word: string) => string;
};

/** Words of custom-built shops in addition to those that layouts know, by the word that this program uses. */
const MORE_WORDS: Readonly<Record<string, readonly string[]>> = {
  paid: listed(`bezahlt, betaald, voldaan, payée, payé, pagado, pago, recibido, pagato, opłacone, opłacony, zapłacone,
    zaplaceno, zaplacena, uhrazeno, betald, betalt`),
  completed: listed(
    'completado, concluído, zrealizowane, zakończone, vyřízena, vyřízeno, dokončeno, slutförd',
  ),
  cancelled: listed(`cancelado, cancelada, annulé, annulée, annullato, geannuleerd, storniert, cancelled,
    canceled, anulowane, storno, stornována, stornováno, annullerad, makulerad, avbruten`),
  returned: listed('zurückgegeben, retour, returned, zwrócone, vráceno, returnerad, återbetald'),
  open: listed('open, offen, unpaid, pending, nowe, oczekujące, nová, přijatá, nezaplaceno, ny, obetald'),
};
/**
 * Words that mean that an order is paid or completed, in every shop. A word of one layout, such as WooCommerce's
 * `processing`, may mean something else in an unknown export, and what was sent may not be paid: a person is asked.
 */
const CREDITED = listed('paid, completed, complete');
const NOT_CREDITED = listed('cancelled, returned, open');

/**
 * Collects the words that layouts define, and adds the words above.
 *
 * @param paid folded words that a person has said to mean paid.
 */
export function statusWordsOf(
  layouts: readonly Layout[],
  paid: ReadonlySet<string> = new Set(),
): StatusWords {
  const credited = new Set([...CREDITED.map(foldWord), ...paid]);
  const pairs = [
    ...layouts.flatMap(({ status }) => Object.entries(status.words)),
    ...Object.entries(MORE_WORDS).flatMap(([to, words]) => words.map((from) => [from, to] as const)),
  ];
  const translations = new Map(pairs.map(([from, to]) => [foldWord(from), foldWord(to)]));
  const known = layouts.flatMap(({ status }) => status.known.map(foldWord));
  const ofLayouts = new Set(layouts.flatMap(({ status }) => (status.credited ?? []).map(foldWord)));
  const no = new Set([...known.filter((word) => !ofLayouts.has(word)), ...NOT_CREDITED]);
  const meaningOf = (word: string): string =>
    paid.has(foldWord(word)) ? foldWord(word) : (translations.get(foldWord(word)) ?? foldWord(word));
  return {
    all: new Set([...credited, ...known, ...ofLayouts, ...translations.keys()]),
    credited,
    saysNo: (word) => no.has(meaningOf(word)),
    meaningOf,
  };
}
