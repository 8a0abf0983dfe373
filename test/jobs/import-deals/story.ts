import { sql } from 'kysely';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../../runs/workshop.ts';
import { readEvents } from '../../support/run-cli.ts';

/** A deal as the service returns it. */
export type TrueDeal = {
  readonly id: string;
  readonly influencer_handle: string;
  readonly platform: string;
  readonly is_active: boolean;
  readonly funnel_step: number | null;
  readonly collabs: readonly Readonly<Record<string, unknown>>[];
};

export type CreatorShop = Workshop & {
  /** Runs `run deals --json` and returns the exit code and the counts of `run_finished`. */
  runDeals(
    ...args: string[]
  ): Promise<{ code: number | null; counts: Record<string, number>; stderr: string }>;
  /** Runs the mirror on the account. */
  mirror(): Promise<void>;
  /** Returns how often the service actually processed an operation. */
  processed(operation: string): Promise<number>;
  /** Returns the deals of a handle as the service suggests them: `id platform brand`. */
  dealsOf(handle: string): Promise<readonly string[]>;
  /** Returns a deal of the service by its id or its handle. */
  trueDeal(which: { readonly deal_id: string } | { readonly influencer_handle: string }): Promise<TrueDeal>;
  /**
   * Returns `handle platform outcome (reason) deal`, in the order in which the creators were first stated.
   */
  creators(): Promise<readonly string[]>;
};

/** Opens a shop with a list of creators. Its account is mirrored unless `isMirrored` is false. */
export async function openCreatorShop(
  options: WorkshopOptions & { readonly job?: string; readonly isMirrored?: boolean } = {},
): Promise<CreatorShop> {
  const { job = ', dealflow_id: D_TEST', isMirrored = true, ...rest } = options;
  const shop = await openWorkshop({
    ...rest,
    flow: `
sources:
  list: {uri: ./exports/, layout: generic-creators}
jobs:
  account: {kind: mirror-account}
  deals: {kind: import-deals, source: list, brand_id: 4819${job}}
`,
  });
  const headers = { 'x-api-key': shop.env.INFLUENCER_API_KEY ?? '' };
  async function ask(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    return (await fetch(`${shop.sandbox.url}${path}?${new URLSearchParams(query)}`, { headers })).json();
  }
  async function mirror(): Promise<void> {
    const { exitCode, stderr } = await shop.cli('run', 'account', '--json');
    if (exitCode !== 0) throw new Error(`the mirror failed: ${stderr}`);
  }
  const opened: CreatorShop = {
    ...shop,
    // A getter, because spreading would open the database immediately.
    get db() {
      return shop.db;
    },
    mirror,
    async runDeals(...args) {
      const result = await shop.cli('run', 'deals', '--json', ...args);
      const finished = readEvents(result).findLast(({ event }) => event === 'run_finished');
      const counts = (finished?.counts ?? {}) as Record<string, number>;
      return { code: result.exitCode, counts, stderr: result.stderr };
    },
    async processed(operation) {
      const text = await (await fetch(`${shop.sandbox.url}/_sandbox/log/requests`)).text();
      const lines = text.split('\n').filter((line) => line !== '');
      return lines
        .map((line) => JSON.parse(line) as { operation: string; processed: boolean })
        .filter((request) => request.operation === operation && request.processed).length;
    },
    async dealsOf(handle) {
      const found = (await ask('/v1/crm/autocomplete', { q: handle })) as readonly Record<string, string>[];
      return found.map(({ deal_id: id, platform, brand_id: brand }) => `${id} ${platform} ${brand}`);
    },
    async trueDeal(which) {
      const answer = await ask('/v1/crm/get_deal_details', { ...which, return_collabs: 'true' });
      return (answer as { deal_info: TrueDeal }).deal_info;
    },
    async creators() {
      const { rows } = await sql<{ said: string }>`
        select concat_ws(' ', influencer_handle, platform, outcome, '(' || reason || ')', deal_id) as said
        from intake.creators order by creator_id`.execute(shop.db);
      return rows.map(({ said }) => said);
    },
  };
  // The workshop's codes name two deals of the account. From these, the mirror discovers all deals that it
  // can.
  if (isMirrored) await mirror();
  return opened;
}
