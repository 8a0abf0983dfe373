import { sql } from 'kysely';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../../runs/workshop.ts';
import { readEvents } from '../../support/run-cli.ts';

/** A request with clicks that the service processed. */
export type TrueClicks = {
  readonly deal_id: string;
  readonly increase_clicks: number;
  readonly body: Record<string, unknown>;
};

export type ClickShop = Workshop & {
  /** Runs `run clicks --json` and returns the exit code and the counts of `run_finished`. */
  runClicks(
    ...args: string[]
  ): Promise<{ code: number | null; counts: Record<string, number>; stderr: string }>;
  /** Returns the requests that the service actually processed, in order. */
  trueClicks(): Promise<readonly TrueClicks[]>;
  /** Returns the clicks of each deal as the service counts them. */
  totals(): Promise<Record<string, number>>;
  /** Returns `target day from+clicks state`, in the order in which the entries were created. */
  entries(): Promise<readonly string[]>;
};

/** Opens a shop whose exports are clicks in the generic layout. */
export async function openClickShop(
  options: WorkshopOptions & { readonly layout?: string; readonly job?: string } = {},
): Promise<ClickShop> {
  const { layout = 'generic-clicks', job = '', ...rest } = options;
  const shop = await openWorkshop({
    ...rest,
    flow: `
sources:
  links: {uri: ./exports/, layout: ${layout}, time_zone: Europe/Amsterdam}
jobs:
  clicks: {kind: post-clicks, source: links, brand_id: 4819, codes: ./codes.csv${job === '' ? '' : `, ${job}`}}
`,
  });
  async function trueClicks(): Promise<readonly TrueClicks[]> {
    const text = await (await fetch(`${shop.sandbox.url}/_sandbox/log/clicks`)).text();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as TrueClicks);
  }
  return {
    ...shop,
    // A getter, because spreading would open the database immediately.
    get db() {
      return shop.db;
    },
    trueClicks,
    async runClicks(...args) {
      const result = await shop.cli('run', 'clicks', '--json', ...args);
      const finished = readEvents(result).findLast(({ event }) => event === 'run_finished');
      const counts = (finished?.counts ?? {}) as Record<string, number>;
      return { code: result.exitCode, counts, stderr: result.stderr };
    },
    async totals() {
      const totals: Record<string, number> = {};
      for (const { deal_id: deal, increase_clicks: clicks } of await trueClicks())
        totals[deal] = (totals[deal] ?? 0) + clicks;
      return totals;
    },
    async entries() {
      const { rows } = await sql<{ said: string }>`
        select (details ->> 'target') || ' ' || (details ->> 'day') || ' ' || (details ->> 'from') || '+' || (details ->> 'clicks') || ' ' || state as said
        from ledger.entries where effect = 'click' order by entry_id`.execute(shop.db);
      return rows.map(({ said }) => said);
    },
  };
}

/** Returns an export in the generic layout: `day, link, clicks`. */
export function clicksCsv(rows: readonly (readonly [day: string, link: string, clicks: number])[]): string {
  return `${['day,link,clicks', ...rows.map((row) => row.join(','))].join('\n')}\n`;
}
