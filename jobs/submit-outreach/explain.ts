import { sql } from 'kysely';
import { foldHandle } from '../../src/core/text/fold.ts';
import { type Database, rowsOf } from '../../src/db/statement.ts';
import { type Explained, readEntryLives } from '../../src/reports/lives/entry-lives.ts';

type Decision = {
  readonly at: Date;
  readonly job: string;
  readonly outreachId: string;
  readonly platform: string | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly followers: string | null;
  readonly outcome: string;
  readonly reason: string | null;
  readonly entryId: string | null;
};

/**
 * Finds what is known about an influencer among the customers: why they were submitted or not, and the
 * batches that contained them.
 */
export async function explainInfluencers(db: Database, text: string): Promise<readonly Explained[]> {
  const rows = await rowsOf<Decision>(db)`
    select decided_at as at, job, outreach_id as "outreachId", platform, user_id as "userId", username,
      followers, outcome, reason, entry_id as "entryId"
    from intake.outreach_candidates
    where user_id = ${text} or ledger.fold_handle(username) = ${foldHandle(text)}
    order by platform, user_id, job`;
  const ids = [...new Set([text, ...rows.flatMap(({ userId }) => userId ?? [])])];
  const entries = await readEntryLives(
    db,
    sql`e.effect = 'outreach' and exists (
      select from jsonb_array_elements_text(e.details -> 'ids') as m(user_id)
      where m.user_id = any(${ids}::text[]))`,
  );
  if (rows.length + entries.length === 0) return [];
  return [
    {
      title: `Influencer ${text}`,
      sections: [
        {
          heading: 'Decided',
          otherwise: 'no job knows this influencer any more; the customer may have been forgotten',
          lines: rows.map((row) => ({ at: row.at, text: describe(row), detail: whyOf(row) })),
        },
      ],
      entries,
    },
  ];
}

function describe({ job, outreachId, platform, userId, username, followers }: Decision): string {
  const name = username === null ? (userId ?? 'without a name') : `${username} (${userId ?? 'no user id'})`;
  return `${job}, outreach ${outreachId}: ${name} on ${platform ?? '?'}, ${followers ?? 'an unknown number of'} followers`;
}

function whyOf({ outcome, reason, entryId }: Decision): string {
  if (outcome === 'in_batch') return `in the batch of entry ${entryId ?? '?'}`;
  const why = (reason ?? '').replaceAll('_', ' ');
  return outcome === 'waiting' ? `chosen, and waits (${why})` : `excluded: ${why}`;
}
