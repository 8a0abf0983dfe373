import { XMLBuilder } from 'fast-xml-parser';
import { refusal } from '../../core/known-error.ts';
import { parseIban } from '../../core/money/iban.ts';
import { sumMoney } from '../../core/money.ts';
import type { PaymentOrder } from '../../money/payments/keep-payments.ts';
import { plainAmount, remittanceOf } from './payments.ts';

/*
 * SEPA credit transfers as an ISO 20022 message, pain.001.001.09, within what the European Payments Council allows
 * (EPC132-08). The order of the elements is that of the schema.
 */

/** Countries whose accounts SEPA reaches, by the first letters of their IBAN. */
const SEPA = new Set(
  'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS SE SI SK SM VA'.split(
    ' ',
  ),
);

/** Whether pain.001 can pay it: EUR, and an account that SEPA reaches. */
export function isSepa({ currency, payee }: PaymentOrder): boolean {
  return currency === 'EUR' && SEPA.has(payee.iban.slice(0, 2));
}

/** The account that pays. */
export type Debtor = {
  readonly name: string | null;
  readonly iban: string | null;
  readonly bic: string | null;
};

/** Letters that have no mark to take away. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  Æ: 'AE',
  æ: 'ae',
  Ø: 'O',
  ø: 'o',
  Œ: 'OE',
  œ: 'oe',
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  Þ: 'TH',
  þ: 'th',
  ð: 'd',
  ı: 'i',
  '&': '+',
  '’': "'",
  _: '-',
};
const MAX_NAME_CHARS = 70;
const MAX_TEXT_CHARS = 140;

/** A text in the characters that every bank takes. What has no Latin letter becomes a point. */
function toSepaText(text: string, maxChars: number): string {
  const latin = [...text]
    .map((sign) => LETTERS[sign] ?? sign)
    .join('')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/[^A-Za-z0-9/\-?:().,'+ ]/gu, '.');
  return latin.trim().replace(/^\/+/, '').slice(0, maxChars).trim();
}

/**
 * Renders payments in EUR as pain.001.001.09. The same payments give the same MsgId and EndToEndIds.
 *
 * @param options.on day on which the bank is asked to pay, `2026-06-03`.
 * @throws KnownError `payments_not_exported` (exit 2): the account that pays is not configured, or a name has no Latin
 * letters.
 */
export function renderPain001(
  orders: readonly PaymentOrder[],
  { debtor, on }: { debtor: Debtor; on: string },
): string {
  const iban = debtor.iban === null ? null : parseIban(debtor.iban);
  if (iban === null || debtor.name === null)
    throw refusal({
      code: 'payments_not_exported',
      where: 'statements.payments',
      message: 'The account that pays is not configured.',
      help: 'Write its holder and its IBAN under statements: payments: {name: …, iban: …}.',
    });
  const nameOf = (name: string, of: string): string => {
    const latin = toSepaText(name, MAX_NAME_CHARS);
    if (/[A-Za-z0-9]/.test(latin)) return latin;
    throw refusal({
      code: 'payments_not_exported',
      where: of,
      message: 'The name of the holder has no Latin letters, which are all that SEPA has.',
      help: 'Write it as the bank spells it in Latin letters.',
    });
  };
  const [first] = orders;
  if (first === undefined) throw new Error('a message without payments');
  const bank = (bic: string | null) => ({
    FinInstnId: bic === null ? { Othr: { Id: 'NOTPROVIDED' } } : { BICFI: bic },
  });
  const sums = {
    NbOfTxs: String(orders.length),
    CtrlSum: plainAmount({ amount: sumMoney(orders.map(({ amount }) => amount)), currency: 'EUR' }),
  };
  const debtorName = nameOf(debtor.name, 'statements.payments.name');
  const message = {
    GrpHdr: {
      MsgId: first.messageId,
      CreDtTm: first.proposedAt.toISOString().slice(0, 19),
      ...sums,
      InitgPty: { Nm: debtorName },
    },
    PmtInf: {
      PmtInfId: first.messageId,
      PmtMtd: 'TRF',
      // One booking for each payment, so that the bank says of each what became of it.
      BtchBookg: 'false',
      ...sums,
      PmtTpInf: { SvcLvl: { Cd: 'SEPA' } },
      ReqdExctnDt: { Dt: on },
      Dbtr: { Nm: debtorName },
      DbtrAcct: { Id: { IBAN: iban } },
      DbtrAgt: bank(debtor.bic),
      ChrgBr: 'SLEV',
      CdtTrfTxInf: orders.map((order) => ({
        PmtId: { EndToEndId: order.reference },
        Amt: { InstdAmt: { '@Ccy': 'EUR', '#text': plainAmount(order) } },
        ...(order.payee.bic === null ? {} : { CdtrAgt: bank(order.payee.bic) }),
        Cdtr: {
          Nm: nameOf(order.payee.name, `payees.csv, ${order.creator}`),
          ...(order.payee.country === null ? {} : { PstlAdr: { Ctry: order.payee.country } }),
        },
        CdtrAcct: { Id: { IBAN: order.payee.iban } },
        RmtInf: { Ustrd: toSepaText(remittanceOf(order), MAX_TEXT_CHARS) },
      })),
    },
  };
  const build = new XMLBuilder({ format: true, ignoreAttributes: false, attributeNamePrefix: '@' });
  return build.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    Document: { '@xmlns': 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09', CstmrCdtTrfInitn: message },
  });
}
