import { sql } from 'kysely';
import { fileName } from '../../src/core/text/file-name.ts';
import { foldHandle } from '../../src/core/text/fold.ts';
import { type Database, rowsOf } from '../../src/db/statement.ts';
import { type Explained, readEntryLives } from '../../src/reports/lives/entry-lives.ts';

type Statement = {
  readonly at: Date;
  readonly handle: string;
  readonly platform: string;
  readonly brandId: string;
  readonly dealflowId: string;
  readonly uri: string;
  readonly line: string;
  readonly source: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly dealId: string | null;
  readonly differing: readonly string[];
  readonly problem: string | null;
  readonly dealKey: string | null;
  readonly noteKey: string | null;
};

const SHOWN = 60;

/** Finds what is known about a creator in a list, by handle or by the id of the deal. */
export async function explainCreators(db: Database, text: string): Promise<readonly Explained[]> {
  const rows = await rowsOf<Statement>(db)`
    select c.stated_at as at, c.influencer_handle as handle, c.platform, c.brand_id as "brandId",
      c.dealflow_id as "dealflowId", f.uri,
      c.line_no as line, c.source, c.outcome, c.reason, c.deal_id as "dealId", c.differing_terms as differing,
      c.update_problem as problem, c.deal_key as "dealKey", c.note_key as "noteKey"
    from intake.creators c join intake.source_files f using (source_file_id)
    where c.handle_folded = ${foldHandle(text)} or c.deal_id = ${text}
    order by c.stated_at desc, c.creator_id limit ${SHOWN}`;
  if (rows.length === 0) return [];
  const keys = rows.flatMap(({ dealKey, noteKey }) => [dealKey, noteKey].filter((key) => key !== null));
  const deals = rows.flatMap(({ dealId }) => dealId ?? []);
  const entries = await readEntryLives(
    db,
    sql`e.effect in ('create_deal', 'note')
      and (e.key = any(${keys}::text[])
        or (e.effect = 'note' and e.body::json ->> 'deal_id' = any(${deals}::text[])))`,
  );
  return [
    {
      title: `Creator ${text}`,
      sections: [
        {
          heading: 'Stated by',
          otherwise: 'no file that is still known',
          lines: rows.map((row) => ({
            at: row.at,
            text: `${row.handle} on ${row.platform}${row.brandId === '' ? '' : `, brand ${row.brandId}`}${row.dealflowId === '' ? '' : `, dealflow ${row.dealflowId}`}: ${fileName(row.uri)} line ${row.line} (source ${row.source})`,
            detail: describe(row),
          })),
        },
      ],
      entries,
    },
  ];
}

function describe({ outcome, reason, dealId, differing, problem }: Statement): string {
  const deal = dealId === null ? '' : ` ${dealId}`;
  const said: Readonly<Record<string, string>> = {
    create: dealId === null ? 'had no deal: one will be created' : `deal${deal} was created for this row`,
    known: `has the deal${deal}`,
    held: `held: ${(reason ?? '').replaceAll('_', ' ')}`,
    superseded: 'a newer row states this creator',
  };
  return [
    outcome === null ? 'not decided yet' : (said[outcome] ?? outcome),
    ...(differing.length === 0 ? [] : [`terms that differ: ${differing.join(', ').replaceAll('_', ' ')}`]),
    ...(problem === null ? [] : [`stage or status refused: ${problem}`]),
  ].join('; ');
}
