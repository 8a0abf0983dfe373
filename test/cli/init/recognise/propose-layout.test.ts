import { expect, test } from 'vitest';
import { folderWith, look, ordersOf, summary } from './look.ts';

const OWN = [
  'Bestellnr.;Datum;Zustand;Gesamtbetrag;Gutscheincode;E-Mail;Artikel',
  'B-1;14.05.2026 10:12;bezahlt;1.249,00;MIA10;a@example.com;Hut',
  'B-2;15.05.2026 11:00;storniert;20,00;MIA10;b@example.com;Hut',
  'B-3;16.05.2026 09:00;bezahlt;35,50;;c@example.com;Schal',
  'B-4;17.05.2026 09:30;bezahlt;99,90;JONAS15|MIA10;d@example.com;Schal',
  'B-5;17.05.2026 09:31;bezahlt;9,90;JONAS15;d@example.com;Größe',
].join('\n');

test('a layout for an unknown header is proposed from names, synonyms and values, and can read the file', async () => {
  const found = await look(folderWith({ 'orders.csv': Buffer.from(OWN, 'latin1') }));
  const [source] = found.sources;
  expect(summary(found)).toEqual(['orders proposed  1 windows-1252']);
  expect(source?.examined.layout).toMatchObject({
    columns: {
      order_id: ['Bestellnr.'],
      status: ['Zustand'],
      total: ['Gesamtbetrag'],
      codes: ['Gutscheincode'],
      placed_at: ['Datum'],
      email: ['E-Mail'],
    },
    lacks: ['currency', 'time_zone', 'consent'],
    money: { decimal: ',', thousands: '.' },
    times: { formats: ['D.M.YYYY H:mm'] },
    codes: { split: ['|'] },
    status: { credited: ['bezahlt'], known: ['storniert'] },
  });
  expect(ordersOf(found).preview).toMatchObject({ orders: 5, credited: 3, organic: 1, rejected: [] });
  expect(source?.proposed?.text).toMatch(/^# Proposed by/);
});

test('a layout for unknown customers includes their consent, or states that consent is missing', async () => {
  const recorded = 'Name,E-Mail,Newsletter\nAnn,a@example.com,ja\nBob,b@example.com,nein\n';
  const found = await look(folderWith({ 'people.csv': recorded }));
  expect(found.sources[0]?.examined).toMatchObject({ kind: 'customers', needsConsent: false, submitted: 1 });
  const bare = await look(folderWith({ 'people.csv': 'Name,E-Mail,Town\nAnn,a@example.com,Oslo\n' }));
  expect(bare.sources[0]?.examined).toMatchObject({ kind: 'customers', needsConsent: true });
});

/** Lists whose formats no layout knows, without a single known yes, as tools of newsletters write them. */
const LISTS: readonly (readonly [string, readonly string[]])[] = [
  [
    'email,name,status,unsubscribed_on',
    [
      'a@example.com,Ann,active,',
      'b@example.com,Bob,inactive,',
      'c@example.com,Cy,pending,',
      'd@example.com,Di,active,2026-01-02',
    ],
  ],
  ['Email,Premium subscription,email_disabled', ['a@example.com,true,false', 'b@example.com,false,true']],
  [
    'Email Address,Status,Engagement OptIn,Deleted at',
    ['a@example.com,1,1,', 'b@example.com,2,0,', 'c@example.com,1,1,2026-01-02'],
  ],
  [
    'E-Mail,Newsletter,Abgemeldet am',
    ['a@example.com,vielleicht,', 'b@example.com,nein,', 'c@example.com,ja,02.01.2026'],
  ],
];

test.each(LISTS)(
  'of a list with the columns %s, nobody is to be submitted, because no word is known to mean yes',
  async (header, rows) => {
    const found = await look(folderWith({ 'people.csv': [header, ...rows, ''].join('\n') }));
    const [source] = found.sources;
    expect(source?.proposed?.text).toContain('consent:');
    expect(source?.examined).toMatchObject({ kind: 'customers', rows: rows.length, held: [] });
    const submitted =
      source?.examined.kind === 'customers' && !source.examined.needsConsent ? source.examined.submitted : 0;
    expect(submitted).toBe(0);
  },
);

test('of a list without a layout, the words that are known to mean yes are a yes, every other word is a no, and a date of leaving is a refusal', async () => {
  const header = 'Mail,Name,Newsletter consent,Unsubscribed at';
  const rows = [
    'a@example.com,Ann,yes,',
    'b@example.com,Bob,maybe,',
    'c@example.com,Cy,yes,2026-01-02',
    'd@example.com,Di,,',
  ];
  const found = await look(folderWith({ 'people.csv': [header, ...rows, ''].join('\n') }));
  expect(found.sources[0]?.examined).toMatchObject({
    submitted: 1,
    needsConsent: false,
    passedOver: { refused: 1, contradicting: 1, unknown: 1 },
  });
  const text = found.sources[0]?.proposed?.text ?? '';
  expect(text).toContain('{ columns: ["Newsletter consent"], equals: ["yes"] }');
  expect(text).toContain('{ columns: ["Newsletter consent"], equals: ["maybe"] }');
  expect(text).toContain('refused_at: ["Unsubscribed at"]');
});

/** Headers that contain a word for consent, and do not ask for consent to e-mail. */
const NO_QUESTION = [
  ...['Consent withdrawn', 'Einwilligung widerrufen', 'Newsletter abbestellt', 'Consent refused'],
  ...[
    'Marketing permission denied',
    'Keine Einwilligung',
    'Not subscribed',
    'Geen toestemming',
    'Sans consentement',
  ],
  ...[
    'SMS subscription',
    'WhatsApp marketing permission',
    'Consent reminder sent',
    'Newsletter bounce',
    'Opt-in pending',
  ],
];

test.each(NO_QUESTION)('a yes in the column %s, and its words, are no consent', async (header) => {
  for (const yes of ['yes', 'ja', 'true', 'opted in', 'subscribed']) {
    const rows = [`Mail,Town,${header}`, `a@example.com,Oslo,${yes}`, 'b@example.com,Bergen,no'];
    const [source] = (await look(folderWith({ 'people.csv': [...rows, ''].join('\n') }))).sources;
    // If no column asks for consent, nobody is submitted unless a person says that nobody has refused.
    expect(source?.examined).toMatchObject({ needsConsent: true });
    // Beside a no, it is no yes either.
    const beside = [`Mail,Newsletter,${header}`, `a@example.com,no,${yes}`];
    const both = await look(folderWith({ 'people.csv': [...beside, ''].join('\n') }));
    expect(both.sources[0]?.examined).toMatchObject({ kind: 'customers', submitted: 0 });
  }
});

test.each([
  'active',
  '1',
  'on',
  'ok',
  'maybe',
  'Y?',
  'vielleicht',
  'confirmed?',
  'x',
  '✓',
  'granted?',
  'yes, but',
])('the word %s is a no in every column, because no list knows it', async (word) => {
  for (const header of [
    'Newsletter',
    'Status',
    'Opt-in',
    'E-mail consent given',
    'Subscription',
    'Marketing',
  ]) {
    const rows = [`Mail,"${header}"`, `a@example.com,"${word}"`, 'b@example.com,no'];
    const [source] = (await look(folderWith({ 'people.csv': [...rows, ''].join('\n') }))).sources;
    expect([header, source?.examined]).toMatchObject([
      header,
      { kind: 'customers', submitted: 0, passedOver: { refused: 2 } },
    ]);
  }
});

test('a column that may turn a yes into a no is named as assumed, unless it is the only one about consent', async () => {
  const assumedOf = async (header: string, row: string) => {
    const { sources } = await look(folderWith({ 'people.csv': `${header}\n${row}\n` }));
    return sources[0]?.proposed?.assumed.map(({ header: name }) => name);
  };
  expect(await assumedOf('Mail,Unsubscribed', 'a@example.com,')).toEqual([]);
  expect(await assumedOf('Mail,Newsletter', 'a@example.com,yes')).toEqual([]);
  expect(await assumedOf('Mail,Newsletter,Unsubscribed,Bounced', 'a@example.com,yes,,')).toEqual([
    'Unsubscribed',
    'Bounced',
  ]);
  expect(await assumedOf('Mail,Newsletter,Status', 'a@example.com,yes,active')).toEqual(['Status']);
  // What is said to be read as a refusal is one.
  const rows = 'Mail,Newsletter,Koniec\na@example.com,yes,yes\nb@example.com,yes,no\nc@example.com,yes,\n';
  const [source] = (await look(folderWith({ 'people.csv': rows }))).sources;
  expect(source?.proposed?.assumed.map(({ header }) => header)).toEqual(['Koniec']);
  expect(source?.proposed?.columns.at(-1)).toMatchObject({ header: 'Koniec', role: 'excludes' });
  expect(source?.examined).toMatchObject({ submitted: 2, passedOver: { contradicting: 1 } });
});

test('an export of Shopify orders without a required column is not a list of customers', async () => {
  const header =
    'Name,Email,Financial Status,Currency,Subtotal,Shipping,Taxes,Discount Code,Created at,Lineitem name,Lineitem price';
  const row = '#1001,ann@example.com,paid,EUR,10.00,0.00,2.10,MIA10,2026-04-10 11:11:26 +0200,Mug,10.00';
  const found = await look(folderWith({ 'orders.csv': `${header}\n${row}\n` }));
  expect(found.sources.filter(({ examined }) => examined.kind === 'customers')).toEqual([]);
});

test('a layout for a Spanish header is proposed: accents, statuses, and a column of times on one day', async () => {
  const header =
    'Número de pedido;Email;Fecha;Estado del cobro;Moneda;Total;Código de descuento;Fecha de pago;Provincia o estado';
  const rows = [
    '71;ana@example.com;06/10/2026 23:50:38;Recibido;ARS;679.90;PIEL5;06/10/2026;Norte',
    '71;ana@example.com;;;;;;;',
    '72;luz@example.com;06/10/2026 21:02:10;Recibido;ARS;410.00;;06/10/2026;Sur',
    '73;eva@example.com;06/10/2026 20:11:00;Anulado;ARS;120.00;PIEL5;06/10/2026;Sur',
    ...Array.from(
      { length: 20 },
      (_, at) =>
        `${80 + at};a${at}@example.com;06/10/2026 19:${10 + at}:00;Recibido;ARS;10.00;;06/10/2026;Sur`,
    ),
  ];
  const found = await look(
    folderWith({ 'ventas.csv': Buffer.from([header, ...rows, ''].join('\n'), 'latin1') }),
  );
  const examined = ordersOf(found);
  expect(examined.layout.columns).toMatchObject({
    order_id: ['Número de pedido'],
    status: ['Estado del cobro'],
    codes: ['Código de descuento'],
    placed_at: ['Fecha'],
    paid_at: ['Fecha de pago'],
  });
  expect(examined.preview).toMatchObject({ orders: 23, credited: 1, organic: 21, rejected: [] });
  expect(examined.dateOrder).toBe('open');
});

test('unknown status words credit no order instead of all', async () => {
  const header = 'Order No,Order Date,Order Status,Total,Coupon';
  const rows = ['A-1,2026-05-01,Betong,20.00,MIA10', 'A-2,2026-05-02,Hallo,21.50,MIA10'];
  const found = await look(folderWith({ 'o.csv': [header, ...rows, ''].join('\n') }));
  expect(ordersOf(found).preview).toMatchObject({ orders: 2, credited: 0 });
  const address = await look(
    folderWith({ 'o.csv': [header.replace('Order Status', 'State'), ...rows, ''].join('\n') }),
  );
  expect(ordersOf(address).layout.columns.status).toBeUndefined();
});

test.each([
  [
    'payments in a language that nobody taught it',
    'Päev,Nimi,Rahaühik,Kokku,E-post',
    '2026-05-01,Aino,EUR,20.00,aino@example.com',
    'It has amounts (column "Kokku"), but no column has the name and the values of totals or order ids. If one has the ids, name it: --column "NAME=order_id".',
  ],
  [
    'orders without amounts',
    'SalesOrderNo,OrderDate,EmailAddress',
    '0094101,2026-05-01,ann@example.com',
    'It has order ids (column "SalesOrderNo"), but no amounts.',
  ],
  [
    'orders with addresses but no code',
    'Order No,Total,Email',
    'A-1,20.00,ann@example.com',
    'It looks like orders or payments, but no column has the name and the values of discount codes, links or influencers, so no order could be credited. If one has the codes, name it: --column "NAME=codes".',
  ],
  [
    'orders whose customers have names that look like codes',
    'Order No,Total,Customer',
    'A-1,20.00,anna99',
    'It looks like orders or payments, but no column has the name and the values of discount codes, links or influencers, so no order could be credited. If one has the codes, name it: --column "NAME=codes".',
  ],
  [
    'orders that have a time, but no id',
    'Email,Cart Total,Discount Code,Date and Time of Order',
    'ann@example.com,20.00,MIA10,"2/23/2026, 9:12:00 AM"',
    'It has amounts (column "Cart Total"), but no column has the name and the values of order ids. If one has the ids, name it: --column "NAME=order_id".',
  ],
  [
    'orders that have a time in an unknown form, but no id',
    'Email,Cart Total,Discount Code,Time of Order',
    'ann@example.com,20.00,MIA10,Monday 9:12 sharp',
    'It has amounts (column "Cart Total"), but no column has the name and the values of order ids. If one has the ids, name it: --column "NAME=order_id".',
  ],
  [
    'a header whose letters were lost',
    'N\uFFFDmero,Moneda,Costo,Email',
    '1,ARS,20.00,ann@example.com',
    'It has amounts (column "Costo"), but no column has the name and the values of totals or order ids. If one has the ids, name it: --column "NAME=order_id". Letters of its header were lost (\uFFFD): export it again.',
  ],
])('a file is not mistaken for a list of customers: %s', async (_, header, row, why) => {
  const found = await look(
    folderWith({
      'o.csv': `${header}\n${row}\n${row
        .replace('ann@', 'bob@')
        .replace(/01,|-1,/, '2,')
        .replace('9:12', '9:13')}\n`,
    }),
  );
  expect(found.sources).toEqual([]);
  expect(found.refused.map((file) => file.why)).toEqual([why]);
});

test('times as JavaScript writes them for people are read', async () => {
  const header = 'Order No,Total,Discount Code,Order Date';
  const rows = ['A-1,20.00,MIA10,"2/23/2026, 9:12:00 AM"', 'A-2,21.00,MIA10,"2/23/2026, 11:05:30 PM"'];
  const found = await look(folderWith({ 'o.csv': [header, ...rows, ''].join('\n') }));
  expect(ordersOf(found).layout.times.formats).toEqual(['M/D/YYYY, h:mm:ss A']);
  expect(ordersOf(found).preview).toMatchObject({ orders: 2, rejected: [] });
});

test('the total that a customer has spent is not mistaken for the total of an order', async () => {
  const people = 'Customer ID,Email,Total Spent,Newsletter\n7,ann@example.com,120.00,yes\n';
  const found = await look(folderWith({ 'people.csv': people }));
  expect(found.sources[0]?.examined).toMatchObject({ kind: 'customers', submitted: 1 });
});

test('control sequences and YAML syntax in headers and values are neutralized in a proposed layout', async () => {
  const header = 'Order No,Total,"Coupon \u001b[31m: [x] #\u009b",Status';
  const rows = ['A-1,20.00,MIA10,paid', 'A-2,21.50,"}: !!js",paid', 'A-3,22.00,MIA10,"paid\u001b]0;x"'];
  const found = await look(folderWith({ 'o.csv': [header, ...rows, ''].join('\n') }));
  const text = found.sources[0]?.proposed?.text ?? '';
  expect(text).toContain('Coupon');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may occur
  expect(text).not.toMatch(/[\u0000-\u0008\u001b\u007f-\u009f]/);
  expect(ordersOf(found).preview.orders).toBe(3);
});

test('whoever is in a list of refusals has refused, whatever reason stands beside the address', async () => {
  const rows = ['ann@example.com,2026-09-20 10:00:00,Hard bounce', 'bob@example.com,2026-09-21 10:00:00,'];
  const { sources } = await look(
    folderWith({ 'cleaned.csv': `Email address,Cleaned at,Reason\n${rows.join('\n')}\n` }),
  );
  const [{ proposed, examined } = {}] = sources;
  expect(proposed).toMatchObject({ withoutYes: [], unknownYes: new Map() });
  expect(proposed?.layout.consent).toMatchObject({
    columns: ['Cleaned at'],
    given: [],
    refused: [{ columns: ['Email address'], notBlank: true }],
    refusedAt: ['Cleaned at'],
  });
  expect(examined).toMatchObject({ kind: 'customers', submitted: 0, rejected: 0 });
});

test('a list of addresses and nothing else does not say whether they refused, and is not read', async () => {
  const found = await look(
    folderWith({ 'suppressed.csv': 'E-mail\nann@example.com\n', 'no-header.csv': 'ann@example.com\n' }),
  );
  expect(summary(found)).toEqual(['no-header.csv addresses_only', 'suppressed.csv addresses_only']);
});

test('a list with a column of creators is asked about before it is read as customers', async () => {
  const [header, row] = ['Creator name;E-mail;Fee', 'Mira;mira@example.com;500'];
  const folder = folderWith({ 'list.csv': `${header}\n${row}\n` });
  const { refused } = await look(folder);
  expect(refused).toMatchObject([
    { code: 'unclear_columns', unclear: [{ header: 'Creator name', likely: null }] },
  ]);
  expect(summary(await look(folder, new Map([['creator name', 'unused']])))).toEqual(['list proposed  1']);
});

test('an export that asks for consent is not read by a layout that knows none', async () => {
  const header = 'Member,Email,Total spend,Marketing opt-in';
  const { sources } = await look(
    folderWith({ 'm.csv': `${header}\n1,a@example.com,9.00,yes\n2,b@example.com,1.00,\n` }),
  );
  expect(sources[0]?.proposed?.layout.consent.given).toMatchObject([{ columns: ['Marketing opt-in'] }]);
  expect(sources[0]?.examined).toMatchObject({ kind: 'customers', submitted: 1 });
});

test.each([
  ['Nom', 'Zoé'],
  ['Prénom', 'Zoé'],
  ['Klient', 'Łukasz'],
  ['注文者氏名', '佐藤花子'],
  ['Apellidos', 'García'],
  ['Cognome', 'Rossi'],
  ['Efternamn', 'Åberg'],
  ['Adres', 'ul. Mała 5'],
  ['CPF', '123.456.789-09'],
  ['Cassiere', 'Gianni'],
])('no cell of a column about people is shown: %s', async (name, cell) => {
  const text = `Order no,Total,Status,Coupon,${name}\nA1,20.00,paid,MIA10,${cell}\nA2,30.00,paid,MIA10,${cell}\n`;
  const { sources } = await look(folderWith({ 'orders.csv': text }));
  const [{ proposed } = {}] = sources;
  expect(proposed?.columns.find(({ header }) => header === name)?.samples).toEqual([]);
});

test.each([
  ['N° commande;Statut du paiement;Total TTC;Code parrain;Payé le', 'Paiement accepté'],
  ['Nº pedido;Estado de pago;Importe del pedido;Código promocional;Fecha de pago', 'pago confirmado'],
  ['Numer zamówienia;Status płatności;Suma zamówienia;Kod zniżkowy;Data płatności', 'opłacona'],
  ['ご注文番号;支払状況;注文合計;紹介コード;入金日時', '決済完了'],
])('columns of orders are known by their names in other languages: %s', async (header, paid) => {
  const [id, status, total, codes, paidAt] = header.split(';');
  const rows = ['01', '02'].map((day) => `A${day};${paid};20,50;MIRA${day};2026-09-${day}`);
  const found = await look(folderWith({ 'orders.csv': [header, ...rows, ''].join('\n') }));
  const [{ proposed } = {}] = found.sources;
  expect(proposed?.layout.columns).toEqual({
    order_id: [id],
    status: [status],
    total: [total],
    codes: [codes],
    paid_at: [paidAt],
  });
  expect(ordersOf(found).preview.statuses).toMatchObject([{ orders: 2, effect: 'credited' }]);
});

test('a list of customers may state the currency of each', async () => {
  const people =
    'E-Mail-Adresse,Vorname,Währung,Total Spent\nann@example.com,Ann,EUR,20.00\nbob@example.com,Bob,GBP,0.00\n';
  const found = await look(folderWith({ 'people.csv': people }));
  expect(found.sources[0]?.examined).toMatchObject({ kind: 'customers', submitted: 2 });
});

const SPANISH = [
  'Correo electrónico;Nombre;Fecha de alta;Estado;Acepta publicidad;Fecha de baja',
  'ana@example.es;Ana;01/09/2026 10:00;activo;sí;',
  'luis@example.es;Luis;13/09/2026 12:30;activo;sí;20/09/2026 09:00',
  'eva@example.es;Eva;14/09/2026 11:00;baja;no;',
  'pablo@example.es;Pablo;15/09/2026 11:00;rebotado;sí;',
  'sara@example.es;Sara;16/09/2026 11:00;activo;;',
  '',
].join('\n');

test('of a Spanish list, only who accepts advertising and neither left nor bounced is to be submitted', async () => {
  const { sources } = await look(folderWith({ 'suscriptores.csv': SPANISH }));
  expect(sources[0]?.examined).toMatchObject({
    kind: 'customers',
    rows: 5,
    submitted: 1,
    needsConsent: false,
    passedOver: { refused: 1, contradicting: 2, unknown: 1 },
  });
});

test('words that take permission away count below any header, and a yes under a European law is one', async () => {
  const rows = [
    'a;Abonné;Oui;OK',
    'b;Abonné;Oui;Rebond définitif',
    'c;Abonné;Oui;Plainte',
    'd;Abonné;Non;OK',
  ];
  const text = ['Adresse e-mail;Statut;Consentement RGPD;Délivrabilité', ...rows].join('\n');
  const { sources } = await look(
    folderWith({ 'contacts.csv': `${text.replace(/^(\w);/gm, '$1@example.fr;')}\n` }),
  );
  expect(sources[0]?.examined).toMatchObject({ rows: 4, submitted: 1, passedOver: { contradicting: 3 } });
  expect(sources[0]?.proposed?.assumed.map(({ header }) => header)).toEqual(['Délivrabilité']);
});

test.each([
  ['Acepta publicidad', 'Contento', [['Contento', 'consent']]],
  ['Correo electrónico', 'Contacto', [['Contacto', 'email']]],
])('a list in which %s is called %s is asked about, and not read', async (name, other, asked) => {
  const { sources, refused } = await look(folderWith({ 'x.csv': SPANISH.replace(name, other) }));
  expect(sources).toEqual([]);
  expect(refused[0]?.unclear?.map(({ header, likely }) => [header, likely])).toEqual(asked);
});

const IN_TIME = [
  'Email consent date',
  'subscribed_at',
  'Opt-in date',
  'Consent given on',
  'Newsletter since',
  'Einwilligung am',
  'Date du consentement',
];

test.each(IN_TIME)('a time in the column %s is a yes, and its absence is none', async (header) => {
  const rows = Array.from({ length: 30 }, (_, at) =>
    at % 2 === 0 ? `a${at}@example.com,Ann,` : `a${at}@example.com,Ann,${(at % 28) + 1}/03/2026`,
  );
  const text = [`Email,Name,${header}`, ...rows, 'z@example.com,Zed,never', ''].join('\n');
  const { sources } = await look(folderWith({ 'people.csv': text }));
  expect(sources[0]?.examined).toMatchObject({ needsConsent: false, submitted: 15 });
  expect(sources[0]?.proposed?.text).toContain(`given_at: ["${header}"]`);
  // Beside an answer, it is only the time of it.
  const beside = `Email,Newsletter,${header}\na@example.com,yes,2026-03-01\nb@example.com,no,2026-03-01\nc@example.com,,2026-03-01\n`;
  const both = await look(folderWith({ 'people.csv': beside }));
  expect(both.sources[0]?.examined).toMatchObject({ submitted: 1, passedOver: { refused: 1, unknown: 1 } });
});

test.each([
  ['Newsletter date', '2026-03-01'],
  ['Consent reminder sent', '2026-03-01'],
  ['Subscription renewal', '2026-03-01'],
  ['Consent status date', '2026-03-01'],
  ['Opt-in date', '02/03/2026'],
])('times in a column %s, such as %s, are asked about', async (header, time) => {
  const text = `Email,Name,${header}\na@example.com,Ann,${time}\nb@example.com,Bob,\n`;
  const { sources, refused } = await look(folderWith({ 'people.csv': text }));
  expect(sources).toEqual([]);
  expect(refused[0]?.unclear?.map((one) => one.header)).toEqual([header]);
});

test('a column that asks for consent without a known yes is named, so that nobody without an answer is submitted', async () => {
  for (const cells of [
    ['maybe', 'no', ''],
    Array.from({ length: 20 }, (_, at) => `word ${'a'.repeat(at)}`),
    [''],
    ['31.02', ''],
  ]) {
    const rows = cells.map((cell, at) => `a${at}@example.com,Ann,${cell}`);
    const text = ['Email,Name,Newsletter', ...rows, ''].join('\n');
    const { sources } = await look(folderWith({ 'people.csv': text }));
    expect(sources[0]?.proposed?.withoutYes).toEqual(['Newsletter']);
  }
});
