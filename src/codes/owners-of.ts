import { type RawBuilder, sql } from 'kysely';

/**
 * The common table expression `owners` of a job: each code, handle and custom link that names an owner. A link
 * names one if all of its `link_folded` occur, of which `folded` is the first. `blanks` says where a code has blanks, and
 * `all_blanks` where those have them that fold to the same text; both are null for handles and links.
 */
export function ownersOf(job: string): RawBuilder<unknown> {
  return sql`
    owners as materialized (
      select o.*, case o.owner_of when 'code' then array_agg(o.blanks) over (partition by o.owner_of, o.folded) end
        as all_blanks
      from (
        select o.owner_of, o.folded, case o.owner_of when 'link' then c.link_folded end as link_folded,
          case o.owner_of when 'code' then ${blanksIn('c.code', 'c.code_folded')} end as blanks,
          c.line_no, c.target, c.brand_id, c.valid_from, c.valid_to
        from intake.codes c
        cross join lateral (
          values ('code', c.code_folded), ('handle', nullif(c.handle_folded, '')),
            ('link', c.link_folded[1])) o(owner_of, folded)
        where c.job = ${job} and o.folded is not null) o
    )`;
}

/**
 * SQL for where a written code has blanks inside: `xxx xx` for `MIA 10`; empty if it has none. What codes are matched by
 * has no blanks, but a shop may have both `MIA10` and `MIA 10`: texts that differ in this are two codes.
 *
 * @param written column with the code as written.
 * @param folded column with what `foldCode` makes of it.
 */
export function blanksIn(written: string, folded: string): RawBuilder<string> {
  const [text, fold] = [sql.ref(written), sql.ref(folded)];
  // Of nearly all codes, the lengths show that nothing was taken out of them.
  return sql`
    case
      when octet_length(${text}) = octet_length(${fold}) and octet_length(${text}) = length(${text}) then ''
      else coalesce(substring(
        regexp_replace(regexp_replace(normalize(${text}, nfkc), '\\S', 'x', 'g'), '\\s+', ' ', 'g')
        from 'x.* .*x'), '')
    end`;
}
