import { type RawBuilder, sql } from 'kysely';

/**
 * Where each order of a job stands, one row an order: `standing`, `reason`, `currency`, `amount`.
 *
 * Only current orders of sealed files count. What the ledger knows wins over what attribution says now, because money that has moved
 * does not stop having moved: an accepted order that was cancelled since stays `accepted` (and has an adjustment). Only an entry
 * that was held or refused, so that no money moved, gives way to an attribution that no longer wants it.
 *
 * An entry that is being sent counts as `ready` while its owner is alive, because it is about to be settled, and as `in_doubt` once
 * the owner's lease is over, because that is what it will be as soon as somebody reaps it.
 *
 * @param runId `accepted` means since this run began, `already` before it; null: all accepted orders are `already`.
 */
export function standingOfOrders(options: {
  job: string;
  sources: readonly string[];
  runId: string | null;
}): RawBuilder<unknown> {
  const { job, sources, runId } = options;
  return sql`
    select o.source, o.order_id, o.order_version_id,
      case
        when e.entry_id is null or (e.state in ('held', 'rejected') and a.outcome <> 'attributed') then
          case when a.outcome is null or a.outcome = 'attributed' then 'unaccounted' else a.outcome end
        when e.state = 'accepted' then case when e.state_changed_at >= r.started_at then 'accepted' else 'already' end
        when e.state = 'sending' then case when ${hasLiveOwner} then 'ready' else 'in_doubt' end
        when e.state = 'written_off' then 'held'
        else e.state
      end as standing,
      case
        when e.entry_id is null or (e.state in ('held', 'rejected') and a.outcome <> 'attributed') then a.reason
        when e.state in ('held', 'rejected', 'in_doubt') then e.state_reason
        when e.state = 'written_off' then 'written_off'
      end as reason,
      coalesce(e.currency, a.currency, o.currency) as currency,
      coalesce(e.amount, a.amount, o.total, o.subtotal, 0) as amount
    from intake.orders o
    join intake.source_files f on f.source_file_id = o.source_file_id and f.state = 'sealed'
    left join intake.attributions a on a.job = ${job} and a.source = o.source and a.order_id = o.order_id
    left join ledger.entries e on e.entry_id = a.entry_id
    left join ops.runs r on r.run_id = ${runId}::bigint
    where o.is_current and o.source = any(${sources}::text[])`;
}

/** Whether the process that claimed entry `e` still gives signs of life, by the database's clock. */
const hasLiveOwner = sql`exists (select 1 from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())`;

/** Entry `e` may have been processed without an answer that says so: in doubt, or its process is gone. */
export const isDoubt = sql`(not e.is_settled and (e.state = 'in_doubt' or (e.state = 'sending' and not ${hasLiveOwner})))`;
