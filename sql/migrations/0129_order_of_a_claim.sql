-- An order that is claimed by its id and by its name, or by handle and by deal, is one order also after the answers were given.
alter table ops.credit_claims add column found_source text,
  add column found_order_id text,
  add constraint a_found_order_has_its_id check (found_source is null or found_order_id is not null);
comment on column ops.credit_claims.found_source is 'Source of the order that the answer is about. Null: the claim is open, none was found, or only the ledger knows it.';
comment on column ops.credit_claims.found_order_id is 'Order that the answer is about, as its source names it. Null: the claim is open, none was found, or it was answered before this was kept.';
