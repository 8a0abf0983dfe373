import type { Database } from '../db/connect.ts';
import { rowsOf } from '../db/statement.ts';
import { isRefusedAndGone } from '../rollups/disposition.ts';

/** Entries of a job that the service refused and that the job still wants to post, added up by currency. */
export type RefusedSum = {
  readonly job: string;
  /** Null for entries without an amount, such as those of clicks. */
  readonly currency: string | null;
  readonly entries: number;
  /** Exact text, in `currency`. */
  readonly amount: string | null;
  /** When the service first refused one of them. */
  readonly since: Date;
};

/**
 * Adds up refused entries. As in `dispositionOfOrders`, a refused order that attribution no longer wants is left out.
 */
export async function sumRefused(db: Database): Promise<readonly RefusedSum[]> {
  return rowsOf<RefusedSum>(db)`
    select e.job, e.currency, count(*)::float8 as entries, sum(e.amount) as amount, min(e.state_changed_at) as since
    from ledger.entries e
    left join lateral (select a.outcome from intake.attributions a where a.entry_id = e.entry_id limit 1) a on true
    where e.state = 'rejected'
      and case e.effect when 'referral' then a.outcome = 'attributed' when 'click' then not ${isRefusedAndGone} else true end
    group by 1, 2 order by 1, 2`;
}
