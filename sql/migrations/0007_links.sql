-- Custom links of deals, which events tell of: rows beside the codes, matched by links of orders only.

alter table intake.codes
  alter column code drop not null,
  alter column code_folded drop not null,
  add column link text,
  add column link_folded text[],
  add constraint a_code_or_a_link check (
    (code is null) = (code_folded is null) and (link is null) = (link_folded is null)
    and (code is null) <> (link is null) and cardinality(link_folded) > 0);
comment on column intake.codes.code is 'Code as written; null where the row is a link.';
comment on column intake.codes.code_folded is 'Code without blanks, case folded: what orders are matched by. Null where the row is a link.';
comment on column intake.codes.line_no is 'Line in codes.csv; below 0 where an event of the service told of it.';
comment on column intake.codes.link is 'Custom link, or the name of its target, as the event wrote it; null where the row is a code.';
comment on column intake.codes.link_folded is 'References in the link, folded as codes are: an order came by the link if its own links hold all of them.';
