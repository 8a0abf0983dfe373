-- A statement is about a deal and a creator: what is corrected of a former creator of the deal is a statement of its own.
alter table ops.statement_mails add column former_creator text check (former_creator <> ''),
  drop constraint statement_mails_statement_id_deal_id_replaces_key,
  add constraint statement_mails_one_each unique nulls not distinct (statement_id, deal_id, former_creator, replaces);
comment on column ops.statement_mails.former_creator is 'Handle, folded, of the former creator of the deal whose corrections the document has. Null: it is that of the creator who had the deal when the month was closed.';
comment on column ops.statement_mails.replaces is 'The mail before about the same statement, deal and creator, which the person saw who asked for this one. Two people cannot replace the same one.';
