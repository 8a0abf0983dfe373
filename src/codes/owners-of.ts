import { type RawBuilder, sql } from 'kysely';

/**
 * The common table expression `owners` of a job: each code, handle and custom link that names an owner. A link
 * names one if all of its `link_folded` occur, of which `folded` is the first.
 */
export function ownersOf(job: string): RawBuilder<unknown> {
  return sql`
    owners as materialized (
      select o.owner_of, o.folded, case o.owner_of when 'link' then c.link_folded end as link_folded,
        c.line_no, c.target, c.brand_id, c.valid_from, c.valid_to
      from intake.codes c
      cross join lateral (
        values ('code', c.code_folded), ('handle', nullif(c.handle_folded, '')),
          ('link', c.link_folded[1])) o(owner_of, folded)
      where c.job = ${job} and o.folded is not null
    )`;
}
