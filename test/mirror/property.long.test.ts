import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { knowDeals, openStory, rowsOf, type Story } from './story.ts';
import { dealRecord, type StubAnswer } from './stub-service.ts';

const DEALS = ['A', 'B', 'C'] as const;
const BRANDS = ['1', '2', '3'] as const;

/**
 * The content of the account when a run begins, and how the service answers. A record is a number, or null if
 * it does not exist.
 */
type Turn = {
  readonly deals: readonly (number | null)[];
  readonly dealAnswers: readonly ('well' | 'refused' | 'nonsense')[];
  readonly brands: readonly (number | null)[];
  readonly brandAnswer: 'well' | 'refused' | 'empty' | 'paged' | 'nameless item';
};

const content = fc.option(fc.integer({ min: 0, max: 1 }), { freq: 3 });
const turn: fc.Arbitrary<Turn> = fc.record({
  deals: fc.tuple(content, content, content),
  dealAnswers: fc.array(fc.constantFrom('well', 'well', 'well', 'refused', 'nonsense'), {
    minLength: 3,
    maxLength: 3,
  }),
  brands: fc.tuple(content, content, content),
  brandAnswer: fc.constantFrom('well', 'well', 'refused', 'empty', 'paged', 'nameless item'),
});

type ModelVersion = { readonly content: number; isOpen: boolean };

/** The rules in their simplest form, as an observer of everything would write them down. */
class PlainModel {
  readonly deals = new Map<string, ModelVersion[]>(DEALS.map((id) => [id, []]));
  readonly brands = new Map<string, ModelVersion[]>(BRANDS.map((id) => [id, []]));
  readonly missing = new Set<string>();

  watch({ deals, dealAnswers, brands, brandAnswer }: Turn): void {
    const answers = DEALS.map((id, index) => ({
      id,
      content: deals[index] ?? null,
      how: dealAnswers[index],
    }));
    const isAnyRead = answers.some((answer) => answer.how === 'well' && answer.content !== null);
    for (const answer of answers) {
      if (answer.how !== 'well') continue;
      const versions = this.deals.get(answer.id) ?? [];
      if (answer.content !== null) {
        see(versions, answer.content);
        this.missing.delete(answer.id);
      } else if (!this.missing.has(answer.id)) {
        this.missing.add(answer.id);
      } else if (isAnyRead) {
        end(versions);
      }
    }
    if (brandAnswer === 'refused' || brandAnswer === 'empty') return;
    const isEmpty = brands.every((brand) => brand === null) && brandAnswer !== 'nameless item';
    for (const [index, id] of BRANDS.entries()) {
      const versions = this.brands.get(id) ?? [];
      const listed = brands[index] ?? null;
      if (listed !== null) see(versions, listed);
      else if (brandAnswer === 'well' && !isEmpty) end(versions);
    }
  }
}

function see(versions: ModelVersion[], seen: number): void {
  const last = versions.at(-1);
  if (last?.isOpen === true && last.content === seen) return;
  end(versions);
  versions.push({ content: seen, isOpen: true });
}

function end(versions: ModelVersion[]): void {
  const last = versions.at(-1);
  if (last !== undefined) last.isOpen = false;
}

it('after any sequence of changes and partial reads, the history equals that of a plain model', async () => {
  const story = await openStory();
  await knowDeals(story.db, DEALS);
  const property = fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 7 }), async (turns) => {
    await forgetAll(story);
    const model = new PlainModel();
    for (const next of turns) {
      play(story, next);
      model.watch(next);
      const { report } = await story.run();
      expect(report.sumsAddUp).toBe(true);
      // Without this, failed deals would not be read again for an hour.
      await sql`update mirror.known_deals set not_before = null`.execute(story.db);
    }
    expect(await historyOf(story, 'deal', 'funnel_step')).toEqual(asRows(model.deals));
    expect(await historyOf(story, 'brand', 'name')).toEqual(asRows(model.brands));
  });
  await fc.assert(property, { numRuns: Number(process.env.MIRROR_RUNS ?? 15) });
});

function play({ service }: Story, { deals, dealAnswers, brands, brandAnswer }: Turn): void {
  service.deals.clear();
  for (const [index, id] of DEALS.entries()) {
    const step = deals[index] ?? null;
    if (step !== null) service.deals.set(id, dealRecord(id, { funnel_step: step }));
  }
  const listed = BRANDS.flatMap((id, index) => {
    const name = brands[index] ?? null;
    return name === null ? [] : [{ id: Number(id), name: String(name) }];
  });
  const listings: Readonly<Record<Turn['brandAnswer'], StubAnswer>> = {
    well: { body: listed },
    refused: { status: 400, body: { error: 'not now' } },
    empty: { body: [] },
    paged: { body: { items: listed, next: 2 } },
    'nameless item': { body: [...listed, { name: 'who' }] },
  };
  service.override = ({ path, query }) => {
    if (path === '/v1/account/search_brands') return listings[brandAnswer];
    const how = dealAnswers[DEALS.indexOf(query.deal_id as 'A')];
    if (how === 'refused') return { status: 400, body: { error: 'not now' } };
    return how === 'nonsense' ? { body: '<html>' } : null;
  };
}

async function forgetAll({ db }: Story): Promise<void> {
  await sql`
    truncate mirror.publications, mirror.brand_versions, mirror.dealflow_versions, mirror.deal_versions, mirror.collaboration_versions,
      mirror.known_deals, mirror.staged, mirror.staged_listings, mirror.drift, mirror.unreadable, mirror.coverage`.execute(
    db,
  );
}

type HistoryRow = {
  readonly id: string;
  readonly content: number;
  readonly isOpen: boolean;
  readonly isLast: boolean;
};

async function historyOf({ db }: Story, kind: string, column: string): Promise<readonly HistoryRow[]> {
  const rows = await rowsOf(
    db,
    `select ${kind}_id as id, ${column}::integer as content, is_current as "isOpen", is_latest as "isLast"
     from mirror.${kind}_versions order by ${kind}_id, valid_from`,
  );
  return rows as unknown as readonly HistoryRow[];
}

function asRows(model: ReadonlyMap<string, readonly ModelVersion[]>): readonly HistoryRow[] {
  return [...model].flatMap(([id, versions]) =>
    versions.map(({ content: seen, isOpen }, index) => ({
      id,
      content: seen,
      isOpen,
      isLast: index === versions.length - 1,
    })),
  );
}
