import type { PipelineConfig, StatementSettings } from '../../config/schema.ts';
import { addUp, type DecimalText, type Money, minorDigits, subtractMoney } from '../../core/money.ts';
import { type Language, LOCALES } from '../../core/text/language.ts';
import type { Database } from '../../db/connect.ts';
import { type Addressee, findAddressee, loadCreators } from '../../money/load-creators.ts';
import { loadStatementRules } from '../../money/load-rules.ts';
import { type DealStatement, readCreatorStatement } from '../../money/read-creator-statement.ts';
import { findClosed, refuseContained } from '../../money/read-statement.ts';
import type { StatementLine, UncountedOrders } from '../../money/statement.ts';
import { type Block, column, facts, number, type Section, say, section, table } from '../../render/block.ts';
import { type Letterhead, loadLogo } from '../../render/letterhead.ts';
import { STATEMENT_TEXTS, type StatementTexts } from './statement-texts.ts';

/** A statement as the creator gets it: described once for the page, the PDF and the mail. */
export type StatementDocument = {
  readonly title: string;
  readonly letterhead: Letterhead;
  readonly blocks: readonly Block[];
  readonly language: Language;
  /** Name of the brand, or of the sender. Null if neither is known. */
  readonly from: string | null;
  /** Handle, folded, of the former creator of the deal whose corrections it has. Null: of the creator of the deal. */
  readonly former: string | null;
  /** Former creators of the deal, who have statements of their own of this month. */
  readonly formerCreators: readonly string[];
  readonly addressee: Addressee | null;
  readonly isClosed: boolean;
  readonly mail: { readonly subject: string; readonly text: string };
  /** When it was closed; for a draft, a day that is always the same, so that its bytes are, too. */
  readonly madeAt: Date;
};

export type DocumentOf = {
  readonly month: string;
  readonly dealId: string;
  /** Handle of a former creator of the deal, of whom the month corrects something. Null: of the one who has it. */
  readonly creator?: string | null;
  /** Instead of the language of the creator. */
  readonly language?: Language | null;
  readonly config: Pick<PipelineConfig, 'statements'>;
};

/**
 * Reads the statement of one deal and describes it for its creator. A closed one needs no terms.
 *
 * @returns null if nothing is known of the deal, or the month corrects nothing of that creator.
 * @throws KnownError about the terms of an open month, one that a closed statement includes, creators.csv or the logo.
 */
export async function openCreatorStatement(
  db: Database,
  { month, dealId, creator = null, language = null, config: { statements } }: DocumentOf,
): Promise<StatementDocument | null> {
  await refuseContained(db, month);
  const isClosed = (await findClosed(db, month)) !== null;
  const rules = isClosed ? null : loadStatementRules(statements);
  const of = await readCreatorStatement(db, { month, dealId, creator, rules });
  const { sender } = statements;
  const creators = loadCreators(statements);
  return of === null ? null : describeCreatorStatement(of, { sender, creators, language });
}

/** Says why there is no document, or that there is none of a former creator. */
export function whyNoDocument({ month, dealId, creator = null }: Omit<DocumentOf, 'config'>): string {
  return creator === null
    ? `Nothing is known of a deal ${dealId}.`
    : `The statement of ${month} corrects nothing of deal ${dealId} that was closed to ${creator}.`;
}

/**
 * Describes the statement of one deal for its creator: in the language that somebody wrote for the creator, else the one
 * of the settings.
 * @param options.creators the rows of creators.csv.
 */
function describeCreatorStatement(
  of: DealStatement,
  {
    sender,
    creators,
    language: chosen,
  }: {
    readonly sender: StatementSettings['sender'];
    readonly creators: readonly Addressee[];
    /** Instead of theirs. */
    readonly language: Language | null;
  },
): StatementDocument {
  const { statement, dealId, influencerHandle, formerCreators } = of;
  // A row of the deal is that of the creator who has it now.
  const addressee = findAddressee(creators, { dealId: of.hasMoved ? null : dealId, influencerHandle });
  const language = chosen ?? addressee?.language ?? sender.language;
  const texts = STATEMENT_TEXTS[language];
  const write = createWriter(language);
  const brand = of.brandId === null ? undefined : sender.brands[of.brandId];
  const name = brand?.name ?? sender.name ?? of.brandName;
  const handle = influencerHandle === null ? null : `@${influencerHandle.replace(/^@/, '')}`;
  const month = write.month(statement.month);
  return {
    title: texts.title(month),
    letterhead: {
      language: LOCALES[language],
      logo: loadLogo(brand?.logo ?? sender.logo),
      sender: [
        ...(name === null ? [] : [name]),
        ...(brand !== undefined && brand.address.length > 0 ? brand.address : sender.address),
      ],
      addressee: [addressee?.name ?? handle ?? dealId, ...(addressee?.address ?? [])],
      lossy: texts.lossy,
    },
    blocks: describeBody(of, { texts, write, handle }),
    language,
    from: name,
    former: of.former,
    formerCreators,
    addressee,
    isClosed: statement.closed !== null,
    mail: { subject: texts.mailSubject(name ?? dealId, month), text: texts.mailBody(month) },
    madeAt: statement.closed?.at ?? new Date(`${statement.month}-01T00:00:00Z`),
  };
}

type Writer = ReturnType<typeof createWriter>;
type Words = { readonly texts: StatementTexts; readonly write: Writer };

/** Writes amounts, rates and dates as a language does. Amounts are exact, and never floats. */
function createWriter(language: Language) {
  const locale = LOCALES[language];
  const numbers = (amount: DecimalText, digits: number, most: number): string =>
    new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: most }).format(
      amount as Intl.StringNumericLiteral,
    );
  const dates = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 4 });
  const ofDay = dates({ dateStyle: 'medium' });
  const ofMonth = dates({ month: 'long', year: 'numeric' });
  const write = {
    number: ({ amount, currency }: Money): string => numbers(amount, minorDigits(currency), 4),
    money: (money: Money): string => `${write.number(money)} ${money.currency ?? ''}`.trim(),
    percent: (rate: DecimalText): string => percents.format(`${rate}e-2` as Intl.StringNumericLiteral),
    count: (count: number): string => numbers(String(count), 0, 0),
    day: (day: string | null): string => (day === null ? '' : ofDay.format(new Date(`${day}T00:00:00Z`))),
    dayOf: (at: Date, timeZone: string): string =>
      new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium' }).format(at),
    month: (month: string): string => ofMonth.format(new Date(`${month}-01T00:00:00Z`)),
    period: (month: string): string => {
      const [year = 0, number = 1] = month.split('-').map(Number);
      return ofDay.formatRange(new Date(Date.UTC(year, number - 1, 1)), new Date(Date.UTC(year, number, 0)));
    },
  };
  return write;
}

function describeBody(
  of: DealStatement,
  { texts, write, handle }: Words & { readonly handle: string | null },
): readonly Block[] {
  const { statement, dealId, brandName } = of;
  const { lines, month, closed, returnWindowDays, timeZone } = statement;
  const currencies = [...new Set(lines.map(({ currency }) => currency))];
  const terms = termsOf(lines);
  const inReview = statement.uncounted.filter(({ why }) => why !== 'pending');
  const isKnown =
    inReview.every(({ dueOrders }) => dueOrders === 0) &&
    statement.held.length === 0 &&
    statement.unknownFees.length === 0;
  return [
    ...(closed === null ? [say(texts.draft, { tone: 'bold' })] : []),
    facts([
      [texts.period, write.period(month)],
      [texts.closed, closed === null ? null : write.dayOf(closed.at, timeZone)],
      [texts.brand, brandName],
      [texts.creator, handle],
      [texts.deal, dealId],
      [texts.currency, currencies.join(', ')],
      [texts.terms, terms.map((row) => sayTerms(row, { texts, write })).join('\n')],
    ]),
    say(texts.explained(returnWindowDays, write.month(month), timeZone)),
    ...(lines.length === 0 ? [say(texts.nothing)] : summary(lines, { texts, write, isKnown })),
    ...currencies.flatMap((currency) => {
      const title = currencies.length === 1 ? '' : `, ${currency}`;
      const ofKind = (kind: StatementLine['kind']) =>
        lines.filter((line) => line.currency === currency && line.kind === kind);
      return [
        ...orderLines(ofKind('order'), { of, texts, write, terms, title: `${texts.orders}${title}` }),
        ...corrections(ofKind('correction'), { of, texts, write, title: `${texts.corrections}${title}` }),
        ...section(`${texts.fees}${title}`, {
          parts: table(ofKind('fixed_fee'), [
            column(texts.day, ({ dueOn }) => write.day(dueOn)),
            column(texts.fees, () => texts.fee),
            number(texts.toPay, write.money),
          ]),
        }),
      ];
    }),
    ...section(texts.carried, {
      why: texts.carriedAbout,
      parts: [
        table(statement.carried, [
          number(texts.carried, write.money),
          number(texts.minimum, ({ minimum: amount, currency }) => write.money({ amount, currency })),
        ]),
      ],
    }),
    ...uncounted(
      statement.uncounted.filter(({ why }) => why === 'pending'),
      { texts, write, title: texts.pending, about: texts.pendingAbout(returnWindowDays) },
    ),
    ...uncounted(inReview, { texts, write, title: texts.review, about: texts.reviewAbout }),
    say(texts.notice, { tone: 'dim' }),
  ];
}

function summary(
  lines: readonly StatementLine[],
  { texts, write, isKnown }: Words & { readonly isKnown: boolean },
): readonly Section[] {
  const groups = [...Map.groupBy(lines, ({ currency }) => currency).values()];
  type Group = readonly StatementLine[];
  const sum = (amounts: readonly Money[]) => (amounts.length === 0 ? null : write.number(addUp(amounts)));
  const of = (kind: StatementLine['kind']) => (group: Group) =>
    sum(group.filter((line) => line.kind === kind));
  return section(texts.summary, {
    parts: table(groups, [
      number(texts.orders, (group) => write.count(group.filter(({ kind }) => kind === 'order').length)),
      number(texts.netRevenue, (group) =>
        sum(
          group.flatMap(({ kind, netAmount: amount, currency }) =>
            kind === 'order' && amount !== null ? [{ amount, currency }] : [],
          ),
        ),
      ),
      number(texts.commission, of('order')),
      number(texts.corrections, of('correction')),
      number(texts.fees, of('fixed_fee')),
      number(texts.toPay, (group) => {
        const total = write.money(addUp(group));
        return isKnown ? total : texts.atLeast(total);
      }),
    ]),
  });
}

type Listed = Words & { readonly of: DealStatement; readonly title: string };

function nameOf({ entryId, orderId }: StatementLine, { of, texts }: Pick<Listed, 'of' | 'texts'>): string {
  return of.orderNames.get(entryId ?? '') ?? orderId ?? texts.fee;
}

function orderLines(
  lines: readonly StatementLine[],
  { of, texts, write, title, terms }: Listed & { readonly terms: readonly string[] },
): readonly Section[] {
  const amount = (value: DecimalText | null, { currency }: StatementLine) =>
    value === null ? null : write.number({ amount: value, currency });
  return section(title, {
    why: texts.linesAbout,
    parts: table(lines, [
      column(texts.day, ({ orderedOn }) => write.day(orderedOn)),
      column(texts.order, (line) => nameOf(line, { of, texts })),
      number(texts.netRevenue, (line) => amount(line.netAmount, line)),
      number(texts.excluded, (line) => amount(line.excludedAmount, line)),
      number(texts.rate, ({ ratePercent }) => (ratePercent === null ? null : write.percent(ratePercent))),
      // A single row of the terms is above all lines.
      ...(terms.length < 2
        ? []
        : [column(texts.terms, ({ termsLines }: StatementLine) => termsLines?.join(', ') ?? null)]),
      number(texts.earned, write.money),
    ]),
  });
}

/** The rows of the terms that lines name, each once: `line 2: deal_id=D1 rate=10`, in the order of the file. */
function termsOf(lines: readonly StatementLine[]): readonly string[] {
  const rows = lines.flatMap(({ termsText }) => termsText?.split(/; (?=line \d+: )/) ?? []);
  const lineOf = (row: string) => Number(/^line (\d+)/.exec(row)?.[1] ?? 0);
  return [...new Set(rows)].toSorted((one, other) => lineOf(one) - lineOf(other));
}

/** Says a row of the terms in words. A column that has none is shown as it is. */
function sayTerms(row: string, { texts, write }: Words): string {
  const cells = new Map(
    Array.from(row.matchAll(/ ([a-z_]+)=(.*?)(?=$| [a-z_]+=)/g), ([, column = '', text = '']) => [
      column,
      text,
    ]),
  );
  const currency = cells.get('currency') ?? null;
  const words = texts.termsIn;
  const said = Array.from(cells, ([column, text]) => {
    switch (column) {
      case 'currency':
        return [];
      case 'rate':
        return words.rate(write.percent(text.replace(/ ?%$/, '')));
      case 'flat':
      case 'fixed_fee':
      case 'from_revenue':
      case 'cap':
      case 'min_payout':
        return words[column](write.money({ amount: text, currency }));
      case 'valid_from':
      case 'valid_to':
        return words[column](write.day(text));
      default:
        return Object.hasOwn(words, column) ? words[column as keyof typeof words](text) : `${column}=${text}`;
    }
  });
  const line = /^line (\d+)/.exec(row)?.[1];
  return `${texts.termsLine} ${line}: ${said.flat().join(', ')}`;
}

function corrections(
  lines: readonly StatementLine[],
  { of, texts, write, title }: Listed,
): readonly Section[] {
  const money = (line: StatementLine, amount: DecimalText) => write.number({ ...line, amount });
  return section(title, {
    why: texts.correctionsAbout,
    parts: table(lines, [
      column(texts.order, (line) => nameOf(line, { of, texts })),
      number(texts.before, (line) => money(line, line.closedBefore)),
      number(texts.now, (line) => money(line, line.earnedAmount)),
      number(texts.change, write.money),
      column(texts.why, (line) => explain(line, { of, texts, write })),
    ]),
  });
}

/** Why a line differs from the statement before: its net revenue, its rate, or neither. */
function explain(line: StatementLine, { of, texts, write }: Omit<Listed, 'title'>): string {
  if (line.entryId === null) return texts.feeChanged;
  const before = of.earlier.get(line.subject);
  const { netAmount, ratePercent, currency } = line;
  const reasons: string[] = [];
  if (before != null && before.netAmount !== null && netAmount !== null && before.netAmount !== netAmount) {
    const [was, is] = [before.netAmount, netAmount].map((amount) => write.number({ amount, currency }));
    const isLess = subtractMoney(netAmount, before.netAmount).startsWith('-');
    reasons.push((isLess ? texts.refunded : texts.raised)(was ?? '', is ?? ''));
  }
  if (before?.ratePercent != null && ratePercent !== null && before.ratePercent !== ratePercent)
    reasons.push(texts.rateChanged(write.percent(before.ratePercent), write.percent(ratePercent)));
  return reasons.length === 0 ? texts.recalculated : reasons.join('; ');
}

function uncounted(
  orders: readonly UncountedOrders[],
  { texts, write, title, about }: Words & { readonly title: string; readonly about: string },
): readonly Section[] {
  const money = (amount: DecimalText | null, currency: string) =>
    amount === null ? texts.unknown : write.money({ amount, currency });
  return section(title, {
    why: about,
    parts: table(orders, [
      number(texts.orders, ({ orders: count }) => write.count(count)),
      number(texts.netRevenue, ({ netAmount, currency }) => money(netAmount, currency)),
      number(texts.wouldEarn, ({ earnedAmount, currency }) => money(earnedAmount, currency)),
    ]),
  });
}
