import { sql } from 'kysely';
import { fileName } from '../../src/core/text/file-name.ts';
import { foldCode, foldHandle } from '../../src/core/text/fold.ts';
import { plural } from '../../src/core/text/plural.ts';
import { type Database, rowsOf } from '../../src/db/statement.ts';
import { type Explained, readEntryLives } from '../../src/reports/lives/entry-lives.ts';

type Statement = {
  readonly at: Date;
  readonly written: string;
  readonly day: string;
  readonly country: string;
  readonly clicks: number;
  readonly uri: string;
  readonly line: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly matchedBy: string | null;
  readonly target: string | null;
  readonly source: string;
};

/** Maximum number of rows shown. The newest days come first. */
const SHOWN = 60;

/** Finds what is known about the clicks of a link, a code or an influencer. */
export async function explainClicks(db: Database, text: string): Promise<readonly Explained[]> {
  const folded = foldCode(text);
  const targets = [`handle:${foldHandle(text)}`, `deal:${text}`, `collab:${text}`];
  const rows = await rowsOf<Statement>(db)`
    select c.stated_at as at, c.written, c.day::text, c.country, c.clicks::float8, f.uri, c.line_no as line,
      c.outcome, c.reason, c.matched_by as "matchedBy", c.target, c.source
    from intake.clicks c join intake.source_files f using (source_file_id)
    where c.references_folded @> array[${folded}]::text[] or c.target = any(${targets}::text[])
      or lower(c.written) = lower(${text})
    order by c.day desc, c.source, c.click_id limit ${SHOWN}`;
  const owners = [...new Set([...targets, ...rows.flatMap(({ target }) => target ?? [])])];
  const days = rows.map(({ day }) => day);
  const entries = await readEntryLives(
    db,
    sql`e.effect is not distinct from 'click' and e.details ->> 'target' = any(${owners}::text[])
      and (${days.length} = 0 or e.details ->> 'day' = any(${days}::text[]))`,
  );
  if (rows.length + entries.length === 0) return [];
  return [
    {
      title: `Clicks of ${text}`,
      sections: [
        {
          heading: 'Stated by',
          otherwise: 'no file that is still known',
          lines: rows.map((row) => ({
            at: row.at,
            text: `${row.day}: ${plural(row.clicks, 'click')} of ${row.written}${row.country === '' ? '' : ` from ${row.country}`}, ${fileName(row.uri)} line ${row.line} (source ${row.source})`,
            detail: describe(row),
          })),
        },
      ],
      entries,
    },
  ];
}

function describe({ outcome, reason, matchedBy, target }: Statement): string {
  if (outcome === null) return 'not decided yet';
  if (outcome === 'attributed') return `attributed to ${target ?? '?'} by ${matchedBy ?? '?'}`;
  return `${outcome}: ${(reason ?? '').replaceAll('_', ' ')}`;
}
