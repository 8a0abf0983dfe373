import { sql } from 'kysely';
import { type Database, execute, rowsOf, toJsonParameter } from '../db/statement.ts';

/**
 * A deal id and how it was discovered: referral, click, create_deal, note, event, codes, order, handle,
 * autocomplete, deal.
 */
export type Discovery = { readonly dealId: string; readonly way: string };

/**
 * SQL: the deal id in a column. Users may give the address of a deal's page instead of its id (sections Deal
 * and Influencer page): `{app_url}/deal/<deal_id>`. Most values are ids, which contain no slash. Testing for
 * a slash first is much faster than matching a pattern against every value.
 */
const idOf = (column: string) => sql`
  case when position('/' in ${sql.ref(column)}) = 0 then trim(${sql.ref(column)})
       when ${sql.ref(column)} ~* '^https?://'
         then regexp_replace(${sql.ref(column)}, '^.*/deal/([^/?#]+).*$', '\\1')
       else trim(${sql.ref(column)}) end`;

/**
 * Records every deal that the ledger, events, codes.csv and orders name.
 *
 * @returns the number of new deals.
 */
export async function meetNamedDeals(db: Database): Promise<number> {
  const rows = await rowsOf<{ is_new: boolean }>(db)`
    ${remember(sql`
      select ${idOf('deal_id')} as deal_id, effect as way, 1 as rank
      from ledger.entries
      where deal_id is not null
      union all
      select ${idOf('a.deal_id')}, e.effect, 1 from ledger.answers a join ledger.entries e using (entry_id)
      where a.deal_id is not null and not a.applied
      union all
      select ${idOf('deal_id')}, 'event', 2 from ops.webhook_events where deal_id is not null
      union all
      select ${idOf('deal_id')}, 'codes', 3 from intake.codes where deal_id is not null
      union all
      select ${idOf('deal_id')}, 'order', 4 from intake.orders where deal_id is not null`)}`;
  await execute(db)`
    update mirror.known_deals k set event_at = e.event_at
    from (
      select ${idOf('deal_id')} as deal_id, max(received_at) as event_at from ops.webhook_events
      where deal_id is not null group by 1) e
    where e.deal_id = k.deal_id and k.event_at is distinct from e.event_at`;
  return rows.filter((row) => row.is_new).length;
}

/** Records deals that answers name. @returns the number of new deals. */
export async function discoverDeals(db: Database, discoveries: readonly Discovery[]): Promise<number> {
  if (discoveries.length === 0) return 0;
  const named = discoveries.map(({ dealId, way }) => ({ deal_id: dealId, way }));
  const rows = await rowsOf<{ is_new: boolean }>(db)`
    ${remember(sql`
      select deal_id, way, 1 as rank
      from jsonb_to_recordset(${toJsonParameter(named)}::jsonb) as n(deal_id text, way text)`)}`;
  return rows.filter((row) => row.is_new).length;
}

/**
 * SQL: inserts deals with the way they were discovered, and adds new ways to known deals. Known combinations
 * are filtered out first, because a conflict that changes nothing still locks its row, which is a write.
 */
function remember(named: ReturnType<typeof sql>) {
  return sql`
    with news as (
      select deal_id, way, min(rank) as rank from (${named}) n
      where length(deal_id) between 1 and 200
        and not exists (select from mirror.known_deals known
          where known.deal_id = n.deal_id and n.way = any (known.ways))
      group by deal_id, way)
    insert into mirror.known_deals as k (deal_id, first_way, ways)
    select deal_id, (array_agg(way order by rank, way))[1], array_agg(way order by rank, way)
    from news group by deal_id order by deal_id
    on conflict (deal_id) do update
    set ways = k.ways || array(select way from unnest(excluded.ways) way where way <> all (k.ways))
    where not excluded.ways <@ k.ways
    returning (xmax = 0) as is_new`;
}
