import { XMLParser } from 'fast-xml-parser';
import { expect, it } from 'vitest';
import type { PaymentOrder } from '../../../src/money/payments/keep-payments.ts';
import { isSepa, renderPain001 } from '../../../src/reports/payments/pain-001.ts';
import { IBANS } from './payment-shop.ts';

/** Children of an element in their order, `?` if it may be missing, `*` if there may be several; or what its text must match. */
type Grammar = { readonly [element: string]: RegExp | readonly string[] };

const TEXT = (chars: number) => new RegExp(`^(?!/)(?!.*//)[A-Za-z0-9/\\-?:().,'+ ]{1,${chars}}$`);
const IBAN = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{1,30}$/;
const AMOUNT = /^(?!0+(?:\.0+)?$)[0-9]{1,9}\.[0-9]{2}$/;
/**
 * What SEPA allows of pain.001.001.09 (EPC132-08), as far as this tool writes it, after ISO 20022: the schema itself is not
 * part of this repository. On 2026-11-29, the files of these tests were valid by the schema of the European Payments Council
 * for customers (EPC132-08, 2023 V1.0, SCT C2PSP), which is stricter than the one of ISO 20022.
 */
const SEPA: Grammar = {
  Document: ['CstmrCdtTrfInitn'],
  CstmrCdtTrfInitn: ['GrpHdr', 'PmtInf'],
  GrpHdr: ['MsgId', 'CreDtTm', 'NbOfTxs', 'CtrlSum', 'InitgPty'],
  PmtInf: [
    ...[
      'PmtInfId',
      'PmtMtd',
      'BtchBookg',
      'NbOfTxs',
      'CtrlSum',
      'PmtTpInf',
      'ReqdExctnDt',
      'Dbtr',
      'DbtrAcct',
    ],
    ...['DbtrAgt', 'ChrgBr', 'CdtTrfTxInf*'],
  ],
  CdtTrfTxInf: ['PmtId', 'Amt', 'CdtrAgt?', 'Cdtr', 'CdtrAcct', 'RmtInf'],
  InitgPty: ['Nm'],
  PmtTpInf: ['SvcLvl'],
  SvcLvl: ['Cd'],
  ReqdExctnDt: ['Dt'],
  Dbtr: ['Nm'],
  Cdtr: ['Nm', 'PstlAdr?'],
  PstlAdr: ['Ctry'],
  PmtId: ['EndToEndId'],
  Amt: ['InstdAmt'],
  RmtInf: ['Ustrd'],
  DbtrAcct: ['Id'],
  CdtrAcct: ['Id'],
  Id: ['IBAN'],
  DbtrAgt: ['FinInstnId'],
  CdtrAgt: ['FinInstnId'],
  FinInstnId: ['BICFI?', 'Othr?'],
  Othr: ['OthrId'],
  MsgId: TEXT(35),
  PmtInfId: TEXT(35),
  EndToEndId: TEXT(35),
  Nm: TEXT(70),
  Ustrd: TEXT(140),
  CreDtTm: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
  Dt: /^\d{4}-\d\d-\d\d$/,
  NbOfTxs: /^[0-9]{1,15}$/,
  CtrlSum: AMOUNT,
  InstdAmt: AMOUNT,
  IBAN,
  Ctry: /^[A-Z]{2}$/,
  OthrId: /^NOTPROVIDED$/,
  PmtMtd: /^TRF$/,
  BtchBookg: /^(true|false)$/,
  Cd: /^SEPA$/,
  ChrgBr: /^SLEV$/,
  BICFI: /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/,
};

type Node = { readonly [name: string]: readonly Node[] | string };

/** What of a file is not as the grammar says, by path. */
function faultsOf(name: string, children: readonly Node[], path: string): readonly string[] {
  const rule = SEPA[name];
  if (rule === undefined) return [`${path}: it is not allowed`];
  const named = children.flatMap((child) => Object.keys(child).filter((key) => key !== ':@'));
  if (rule instanceof RegExp) {
    const text = children.map((child) => child['#text']).join('');
    return rule.test(text) ? [] : [`${path}: ${text}`];
  }
  // The id of an agent is not that of an account.
  const inTurn = named.map((child) => (name === 'Othr' && child === 'Id' ? 'OthrId' : child));
  const order = new RegExp(
    `^${rule.map((one) => `(?:${one.replace(/[?*]$/, '')} )${one.endsWith('*') ? '+' : one.endsWith('?') ? '?' : ''}`).join('')}$`,
  );
  return [
    ...(order.test(inTurn.map((one) => `${one} `).join('')) ? [] : [`${path}: ${inTurn.join(' ')}`]),
    ...children.flatMap((child, index) => {
      const inner = child[named[index] ?? ''];
      return typeof inner === 'object'
        ? faultsOf(inTurn[index] ?? '', inner, `${path}/${inTurn[index]}`)
        : [];
    }),
  ];
}

const DEBTOR = { name: 'Saffi & Söhne', iban: IBANS.ben, bic: null };
const order = (given: object, payee: object = {}): PaymentOrder => ({
  paymentId: '1',
  proposalId: '1',
  month: '2026-04',
  creator: 'mia',
  currency: 'EUR',
  amount: '10.5000',
  reference: `IS-${'A'.repeat(26)}`,
  messageId: `IS-${'B'.repeat(26)}`,
  state: 'proposed',
  exportedAs: null,
  exportedAt: null,
  accountMark: null,
  paidAmount: '0',
  overpaidAmount: '0',
  paidOn: null,
  elsewhereAmount: '0',
  elsewhere: [],
  cameBack: [],
  proposedAt: new Date('2026-05-01T10:00:00.123Z'),
  settledBy: null,
  settleReason: null,
  payee: {
    creator: 'mia',
    name: 'Mia Müller',
    iban: IBANS.mia,
    bic: null,
    country: null,
    currency: 'EUR',
    ...payee,
  },
  ...given,
});

it.each([
  ['one payment', [order({})], DEBTOR],
  ['banks and countries', [order({}, { bic: 'COBADEFFXXX', country: 'DE' })], { ...DEBTOR, bic: 'ABNANL2A' }],
  ['several payments', [order({}), order({ amount: '0.0100' })], DEBTOR],
  ['the longest names', [order({}, { name: 'ß'.repeat(140) })], { ...DEBTOR, name: `/${'x'.repeat(140)}` }],
  ['names with other marks', [order({}, { name: 'Zoë 日本 <&> "O’Neil"' })], { ...DEBTOR, name: 'Ærø_Łódź' }],
] as const)(
  'pain.001 of %s has the elements that SEPA allows, in their order and with their lengths',
  (_, orders, debtor) => {
    const xml = renderPain001(orders, { debtor, on: '2026-05-04' });
    const [, document] = new XMLParser({
      preserveOrder: true,
      ignoreAttributes: false,
      parseTagValue: false,
    }).parse(xml) as readonly Node[];
    const root = document?.Document;
    expect(typeof root === 'object' ? faultsOf('Document', root, '') : 'no document').toEqual([]);
    expect(xml.match(/<CtrlSum>/g)).toHaveLength(2);
  },
);

it('a payment in another currency, or to an account that SEPA does not reach, is in no pain.001', () => {
  expect(isSepa(order({}))).toBe(true);
  expect(isSepa(order({ currency: 'USD' }))).toBe(false);
  expect(isSepa(order({}, { iban: 'AE070331234567890123456' }))).toBe(false);
});
