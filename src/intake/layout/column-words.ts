import { foldHeader } from '../../core/text/fold.ts';

/**
 * What names of columns contain, as lists of words. `==text` is a whole name, or one after `is` or `was`; `=text`, and
 * a text of several words, are whole words of a name; `^text` is the beginning of a word; any other word is a stem,
 * which may be anywhere. So a stem must be no part of an ordinary word. Case, accents and punctuation do not count.
 */
export type Terms = readonly string[];

/**
 * What names of columns contain that can lower an amount, exclude an order or give its amount another currency, in the
 * languages of most exports. A run and `init` read them; the words that only `init` needs are in config/words.yaml, which
 * takes longer to parse than a layout.
 */
const NAMES = {
  refunded:
    termsIn(`refund, refusj, money back, moneyback, charge back, charge backs, chargeback, reversed, ^repaid, =rma, =return, =returns, =returned,
    credit note, credit notes, credit memo, credit memos, creditnote, creditnota, kreditnot, krediter, dobropis, nota de credito, nota di credito,
    note de credit, =avoir, =avoirs, erstatt, gutschrift, rückzahl, rückbuch, rückgabe, rücklast, rücksend, zurück,
    terugbet, terugstort, terugge, teruggave, terugvorder, terugzend, =terug, ^retour, geretour, rembours, reembols,
    reintegr, devol, devuel, estorn, rimbors, =reso, =resi, zwrot, zwroc, vracen, vratk, återbetal, =retur, =returer,
    ^returbel, ^returner, tilbagebetal, tilbakebetal, palautet, palautus, hyvit, ^iade, возврат, 返金, 返品, 払い戻, 払戻,
    返還, 退款, 退貨, 退货, مسترد, استرداد, مرتجع, إرجاع, visszatérít, reimburs, επιστροφ, rambursat, 환불, 반품, =povrat, =povrata,
    vrnjen, החזר, זיכוי, hoàn tiền, คืนเงิน, повернен, възстановен, tagastat, grąžint, atmaksāt`),
  cancelled:
    termsIn(`cancel, ^void, revoked, declined, storn, =widerruf, ^widerrufen, ^widerrufsdat, annuler, annuller, ^annul, ^anul,
    geannul, afgelast, =resilie, =resiliee, resiliation, disdett, odwołan, cofnięt, zrušen, makuler, avbrut, =inställd,
    =inställda, =inställt, avbeställ, aflyst, kanseller, ^perut, ^peruut, キャンセル, 取消, ملغ, إلغاء, ^iptal, törölv, lemondv, ακυρ, отмен, скасован, 취소, fortrudt, =angret,
    =ångrad, =ångrat, dibatalkan, ยกเลิก, =deleted, trashed, =gelöscht, =verwijderd, =supprimé, =eliminado`),
  // An amount that is still to be paid. What is only called a balance may be that of an account.
  unknown_payment:
    termsIn(`outstanding, openstaand, ausstehend, offener betrag, balance due, amount due, due amount, unpaid amount, restant du,
    reste a payer, importe pendiente, saldo pendiente, pendiente de pago, valor pendente, da pagare, 未払い`),
  currency: termsIn(
    `currency, currencies, valuta, devise, währung, moneda, divisa, moeda, waluta, =měna, valuutta, العملة, 通貨`,
  ),
  test: termsIn(`=test, =tests, =testing, sandbox, =demo, ==internal, internal order, テスト`),
  draft: termsIn(`^draft, entwurf, borrador, kladde, luonnos`),
  // The state of the order itself, by a name that other things have as well: `State` is also a part of an address.
  status:
    termsIn(`==status, ==state, ==statut, ==état, ==estado, ==stato, ==stav, ==tila, ==zustand, ==toestand, ==situation, ==situacao,
    ==stage, ==phase, ==progress, ==result, ==fulfillment, ==fulfilment, ==الحالة, ==ステータス, ==状態`),
  order_status:
    termsIn(`order status, order state, order stage, order phase, order progress, status order, orderstatus, orderstate,
    booking status, bookingstatus, bestelstatus, bestellstatus, auftragsstatus, ordrestatus, statut commande,
    statut de commande, statut de la commande, estado pedido, estado del pedido, estado do pedido, estado de la orden,
    status do pedido, situacao do pedido, stato ordine, stato dell ordine, status zamówienia, stav objednávky,
    tilauksen tila, حالة الطلب, 注文ステータス, 受注ステータス, situacao do pagamento, status do pagamento, maksun tila,
    حالة الدفع, 入金状況, 注文状況, état de la commande, estado da encomenda, ==voldaan, ==pagada, ==zapłacone, ==入金済み`),
  // Kinds of orders, some of which may not count, and orders in place of another one.
  kind: termsIn(`==type, order type, ordertype, sale type, record type, transaction type, ==kind, order kind, ==typ, ==art, bestellart,
    auftragsart, ==soort, bestelsoort, ==tipo, tipo de pedido, type de commande, tipo ordine`),
  other_order: termsIn(
    `=exchange, =exchanged, =replaces, replacement, parent order, parent id, ==parent, ==post parent, original order, ersatz, umtausch`,
  ),
  // A part of a payment. The rest may be open.
  deposit: termsIn(
    `==deposit, deposit paid, deposit amount, anzahlung, aanbetaling, acompte, anticipo, acconto`,
  ),
  disputed: termsIn(
    `fraud, betrug, disput, dispuut, betwist, =geschil, =geschillen, litige, reklamation, reklamiert, reklamac, =reclamo, =reclamos, rückläufer`,
  ),
  // How likely an order is a fraud. No layout for any export knows from which number on it is one.
  unknown_risk: termsIn(
    `=risk, ^risiko, =risque, =riesgo, =rischio, =risco, ^ryzyk, =riziko, =riski, リスク`,
  ),
  // What may contradict the status of an order. A yes counts in one of them, and a no in another.
  other_status:
    termsIn(`payment status, payment state, paymentstatus, financial status, transaction status, =livemode, live mode, ==live, ==mode,
    ==paid, ==approved, ==valid, ==bezahlt, ==betaald, ==payé, ==payée, ==pagado, ==pagato, ==opłacone, ==zaplaceno,
    ==betald, ==betalt, ==maksettu, zahlungsstatus, betaalstatus, betalstatus, betalingsstatus, statut du paiement,
    statut de paiement, état du paiement, estado de pago, estado do pagamento, 支払状況, 支払いステータス, 決済ステータス, estado del pago, stato pagamento, stato del pagamento, status płatności, stav platby,
    ==paid at, ==paid on, ==paid date, ==date paid, ==payment date, ==bezahlt am, ==zahlungsdatum, ==betaald op, ==betaaldatum,
    ==date de paiement, ==fecha de pago, ==data pagamento, ==data płatności, ==datum platby, ==betaldatum, ==betalingsdato,
    ==maksupäivä, ==入金日, ==決済日時, fulfillment status, fulfilment status, fulfillment state, fulfilment state,
    shipment status, shipment state, shipping status, delivery status, fulfillmentstatus, shippingstatus, deliverystatus,
    versandstatus, lieferstatus, verzendstatus, leverstatus, bezorgstatus, statut de livraison, statut d expedition,
    estado de envio, estado del envio, estado de entrega, stato spedizione, stato consegna, status wysyłki, stav doručení,
    leveransstatus, leveringsstatus, toimitustila, 配送状況, 配送ステータス`),
};

/** What a column may say that makes an order count less, or for another amount, than it does without the column. */
export type LoweringMeaning = keyof typeof NAMES;
export const LOWERING_MEANINGS = Object.keys(NAMES) as LoweringMeaning[];
/** Those of columns that a layout for any export does not expect: what it does not read of them, is not known to count. */
const STATES = ['test', 'draft', 'disputed', 'unknown_risk', 'order_status', 'other_status'] as const;
export const STATE_MEANINGS = [...STATES, 'kind', 'other_order'] as const;

/** Columns of clicks that tell those of programs from those of people. */
const OF_PROGRAMS = termsIn(
  `=bot, =bots, =robot, =robots, ^crawler, =spider, =human, =invalid, ==valid, =fraud, =filtered, traffic type, traffic quality,
  click type, user agent`,
);

/** True if the name of a column of clicks says that some of its rows may be no clicks of people: tests, bots, other kinds. */
export function mayExcludeClicks(header: string): boolean {
  return means(header, 'kind') || means(header, 'test') || says(headerWords(header), OF_PROGRAMS);
}

/** Columns of creators that say what came of an application or an offer. */
const OF_ANSWERS = termsIn(
  `application status, application state, application result, approval, ==approved, ==accepted, ==decision,
  ==verdict, ==selected, ==eligible, vetting, review status, outreach status, outreach state, campaign status, invitation status,
  invite status, contract status, collab status, collaboration status, creator status, influencer status, bewerbungsstatus,
  ==angenommen, ==zugesagt, absage, zusage, freigabe, ==freigegeben, sollicitatiestatus, ==goedgekeurd, ==geaccepteerd,
  ==approuvé, ==accepté, statut de candidature, ==aprobado, ==aceptado, estado de solicitud, ==approvato, ==accettato,
  ==aprovado, ==aceito`,
);

/** True if the name of a column of creators says that some of them were not accepted, or did not accept. */
export function mayTurnDown(header: string): boolean {
  return says(headerWords(header), OF_ANSWERS);
}

/** A cell of a row of clicks that are a program's, whatever its column is called: `Bot` among devices. */
const IS_PROGRAM = /^\(?(?:(?:ro|google|bing)?bots?|crawlers?|spiders?)\)?$/i;

/** True if a cell says that the clicks of its row are no person's. */
export function namesProgram(cell: string): boolean {
  return IS_PROGRAM.test(cell.trim());
}

/** Words of a row that adds up others: `Total`, `Gesamtsumme:`, `(all)`. */
const SUMS_UP =
  /^\(?(?:(?:grand|sub|overall) ?)?(?:totals?|totaal|eindtotaal|totale|totales|totaux|totais|gesamt(?:summe|betrag)?|summe|suma|somme|soma|som|sum|all|alle|tous|toutes|todos|todas|tutti|tutte|(?:all|alle) (?:devices|countries|sources|channels|geräte|länder|quellen))\)? *:?$/iu;

/** True if a cell says that its row adds up others. */
export function sumsUp(cell: string): boolean {
  return SUMS_UP.test(cell.trim());
}

/** Columns of e-mail addresses. */
const ADDRESSES = termsIn(`mail, courriel, correo, sähköposti, e post, epost, メール, بريد`);

/** True if the name of a column says that its cells are e-mail addresses, or what else of mail. */
export function isOfAddresses(header: string): boolean {
  return says(headerWords(header), ADDRESSES);
}

/** Columns of who bought or sold something, where they live and how they are reached, and of what somebody wrote about them. */
const PEOPLE = [
  ...ADDRESSES,
  ...termsIn(`name, naam, namn, navn, =nom, =noms, prénom, =nombre, =nombres, apellido, =nome, cognome, =imię, imię i,
    nazwisk, =jméno, příjmení, =nimi, etunimi, sukunimi, 氏名, 名前, フリガナ, =姓, =名, اسم, buyer, purchaser, recipient,
    attendee, =guest, holder, customer, kunde, klant, client, klient, =kund, acheteur, destinat, comprador,
    acquirente, nabywc, odbiorc, zákazník, asiakas, 注文者, 購入者, 顧客, お客様, 会員, عميل, cashier, cassier, kassier,
    bediener, verkäufer, verkoper, vendeur, vendedor, =cajero, mitarbeiter, medewerker, employee, =staff, =clerk,
    address, adres, osoite, street, straße, strasse, straat, =rue, =ulica, =calle, direccion, indirizzo, endereço,
    logradouro, =bairro, 住所, عنوان, zip, =cep, =cap, =plz, postal, postcode, post code, kod pocztowy, =psč, 郵便,
    =city, =town, =ort, wohnort, =ville, ciudad, =città, cidade, =miasto, =město, =stad, kaupunki, phone, telefon,
    telefoon, mobile, =gsm, celular, =móvil, whatsapp, 電話, هاتف, birth, geburt,
    geboorte, naissance, nacimiento, nascita, nascimento, urodz, narození, =cpf, =cnpj, =nif, =dni, codice fiscale,
    =pesel, iban, =ip, note, comment, message, notiz, bemerk, opmerk, remark, remarque, comentario, observa, uwagi,
    poznámk, 備考`),
];

/** True if the name of a column says, or lets suppose, that its cells are about people: they are not shown. */
export function isOfPeople(header: string): boolean {
  return says(headerWords(header), PEOPLE);
}

/** Columns of how many pieces a row has. */
const QUANTITIES =
  termsIn(`=qty, quantity, menge, =anzahl, stückzahl, =stk, =aantal, quantité, =qté, cantidad, quantidade, =qtd, quantità, =qta, =ilość, množství,
    =počet, =antal, =määrä, =kpl, =pcs, =pieces, number of tickets, 数量, 個数, الكمية`);
/** Names of the price of one piece. Any other price may be that of the row. */
const PER_PIECE =
  termsIn(`=unit, =each, =per, =piece, einzelpreis, stückpreis, =unitaire, =unitario, stuksprijs, eenheidsprijs, =jednostkowa, =styckpris, =stykpris,
    =yksikköhinta, 単価`);

/** True if a name says that its column has how many pieces of something were bought. */
export function isOfQuantity(header: string): boolean {
  return says(headerWords(header), QUANTITIES);
}

/** True if a name says that its amounts are the price of one piece. */
export function isPerPiece(header: string): boolean {
  return says(headerWords(header), PER_PIECE);
}

/** Names that only speak of a refund or of a cancellation: `Return policy`, `Annuleringsverzekering`, `Consent revoked at`. */
const IS_ABOUT =
  /(?: (?:insurance|policy|link|url)|versicherung|verzekering|label|address|adres(?:se?)?|\brefundable|\bnoise cancell?ing|\breturns? (?:customer|window|period|by))$|\b(?:marketing|newsletter|consent|cookies?)\b/;
/** Names of experiments in a shop, no test orders: `A/B test`, `Test group`. */
const IS_EXPERIMENT = /\b(?:a ?b|split) test\b|\btest (?:group|variant)\b/;

/** True if the name of a column says that it has this meaning. */
export function means(header: string, meaning: LoweringMeaning): boolean {
  const name = headerWords(header);
  const isReversal = meaning === 'refunded' || meaning === 'cancelled';
  const isOther = isReversal ? IS_ABOUT : meaning === 'test' ? IS_EXPERIMENT : null;
  return says(name, NAMES[meaning]) && isOther?.test(name) !== true;
}

/** Reads a list of terms, folded as names are. */
function termsIn(text: string): Terms {
  return text.split(',').map((term) => {
    const [sign = ''] = /^(?:==?|\^)/.exec(term.trim()) ?? [];
    return sign + headerWords(term);
  });
}

/** True if a name contains one of the terms. @param name as `headerWords` returns it. */
export function says(name: string, terms: Terms): boolean {
  const bare = name.replace(/^(?:is|was) /, '');
  return terms.some((term) =>
    term.startsWith('==')
      ? bare === term.slice(2)
      : term.startsWith('=') || term.includes(' ')
        ? ` ${name} `.includes(` ${term.replace('=', '')} `)
        : ` ${name}`.includes(term.replace('^', ' ')),
  );
}

/**
 * Normalises a header to words, so that `Order-No.` equals `order_no` and `Bestellnr.` equals `Bestellnummer`. Accents
 * are removed: `Número` equals `numero`. `OrderNo` is two words, and `MwSt` is one.
 */
export function headerWords(name: string): string {
  return foldHeader(name.replaceAll('MwSt', 'Mwst').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[#№]/g, ' no ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?:nummer|numer|nr|number|numero|cislo)\b/gu, ' no')
    .replace(/\bnum\b/gu, 'no')
    .replace(/\s+/g, ' ')
    .trim();
}
