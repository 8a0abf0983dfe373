import type { Layout, LayoutField } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';

/**
 * Column names in exports of custom-built shops, in addition to the spellings that layouts know: English,
 * German, Dutch, French, Spanish, Portuguese, Italian. The most reliable names come first. Accents do not count.
 * Amounts are not among them: `amount-names.ts` knows what a name says about money.
 */
const SYNONYMS: Readonly<Partial<Record<LayoutField, readonly string[]>>> = {
  order_id: [
    ...[
      'order id',
      'order no',
      'order number',
      'order nr',
      'order',
      'order ref',
      'order reference',
      'order code',
      'sales order no',
    ],
    ...[
      'bestellnummer',
      'bestell nr',
      'auftragsnummer',
      'auftrag',
      'bestelnummer',
      'ordernummer',
      'bestelling',
    ],
    ...['numero de commande', 'n commande', 'commande', 'référence'],
    ...['numero de pedido', 'numero de orden', 'pedido', 'orden', 'numero ordine', 'ordine'],
    ...['numero do pedido', 'codigo do pedido', 'numero da encomenda', 'encomenda', 'id da transacao'],
    ...[
      'transaction id',
      'transaction',
      'receipt',
      'receipt id',
      'invoice number',
      'invoice',
      'sale id',
      'reference',
      'id',
    ],
  ],
  status: [
    ...['order status', 'payment status', 'financial status', 'status', 'state', 'order state'],
    ...['bestellstatus', 'zahlungsstatus', 'zustand', 'toestand', 'statut', 'statut du paiement'],
    ...['estado del pago', 'estado de la orden', 'estado del pedido', 'situacao do pagamento'],
    ...['status do pagamento', 'status do pedido', 'situacao do pedido', 'situacao', 'stato ordine'],
    ...['état', 'estado', 'stato'],
  ],
  currency: [
    ...['currency', 'currency code', 'order currency', 'curr', 'ccy', 'währung', 'valuta', 'munt', 'devise'],
    ...['moneda', 'moeda', 'divisa'],
  ],
  codes: [
    ...[
      'discount code',
      'discount codes',
      'coupon code',
      'coupon codes',
      'coupon',
      'coupons',
      'voucher code',
      'voucher',
    ],
    ...['promo code', 'promocode', 'promotion code', 'promo', 'affiliate code', 'referral code', 'discount'],
    ...['gutscheincode', 'gutschein', 'rabattcode', 'aktionscode', 'kortingscode', 'waardebon', 'actiecode'],
    ...[
      'code promo',
      'code de réduction',
      'bon de réduction',
      'cupon',
      'cupón de descuento',
      'código de descuento',
      'cupom',
      'cupom de desconto',
      'código do cupom',
      'código de desconto',
      'codice sconto',
    ],
  ],
  influencer_handle: ['influencer handle', 'influencer', 'creator', 'creator handle', 'affiliate', 'partner'],
  links: ['referral link', 'tracking link', 'utm campaign', 'utm_campaign', 'ref', 'referrer code'],
  notes: [
    'notes',
    'note',
    'order notes',
    'note attributes',
    'comments',
    'comment',
    'landing page',
    'landing site',
    'utm',
  ],
  placed_at: [
    ...[
      'order date',
      'created at',
      'date created',
      'placed at',
      'ordered at',
      'order time',
      'purchase date',
      'sale date',
    ],
    ...[
      'bestelldatum',
      'auftragsdatum',
      'datum',
      'besteldatum',
      'orderdatum',
      'date de commande',
      'fecha',
      'fecha de pedido',
      'fecha de compra',
      'data do pedido',
      'data da encomenda',
      'data',
    ],
    ...['timestamp', 'created', 'created on', 'date', 'time'],
  ],
  paid_at: ['paid at', 'paid on', 'payment date', 'date paid', 'bezahlt am', 'betaald op', 'fecha de pago'],
  cancelled_at: [
    ...['cancelled at', 'canceled at', 'cancelled on', 'canceled on', 'cancelled', 'canceled'],
    ...['cancellation date', 'storniert am', 'geannuleerd op', 'fecha de cancelación'],
  ],
  email: [
    'email',
    'e mail',
    'email address',
    'customer email',
    'mail',
    'courriel',
    'correo',
    'correo electrónico',
    'e mail adresse',
  ],
  orders_count: ['orders count', 'total orders', 'number of orders', 'orders'],
  spent: ['total spent', 'lifetime value', 'total spend'],
};

/**
 * Scores how well a column name fits a field: 1 for one of its best names, less for weaker names or names
 * that contain one, and 0 for none.
 */
export type NameScorer = (header: string, field: LayoutField) => number;

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

/** Creates a scorer from the synonyms above and the columns of the layouts. */
export function nameScorer(layouts: readonly Layout[]): NameScorer {
  const known = new Map<LayoutField, readonly string[]>();
  const namesOf = (field: LayoutField): readonly string[] => {
    const cached = known.get(field);
    if (cached !== undefined) return cached;
    const ofLayouts = layouts.flatMap(({ columns }) => columns[field] ?? []);
    const names = [...new Set([...(SYNONYMS[field] ?? []), ...ofLayouts].map(headerWords))];
    known.set(field, names);
    return names;
  };
  return (header, field) => {
    const name = headerWords(header);
    if (name === '') return 0;
    const names = namesOf(field);
    const at = names.indexOf(name);
    if (at !== -1) return at < (SYNONYMS[field]?.length ?? 0) ? 1 - at / 100 : 0.6;
    const padded = ` ${name} `;
    const isPart = names.some((one) => one.length >= 5 && padded.includes(` ${one} `));
    return isPart && !isOfAnother(name, field) ? 0.3 : 0;
  };
}

/**
 * Normalises a header to words, so that `Order-No.` equals `order_no` and `Bestellnr.` equals
 * `Bestellnummer`. Accents are removed: `Número` equals `numero`. `OrderNo` is two words.
 */
export function headerWords(name: string): string {
  return foldHeader(name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[#№]/g, ' no ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?:nummer|nr|number|numero)\b/gu, ' no')
    .replace(/\bnum\b/gu, 'no')
    .replace(/\s+/g, ' ')
    .trim();
}
