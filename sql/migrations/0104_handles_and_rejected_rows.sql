-- One fold of handles for all statements, and a new doubt about an order. Processes of earlier versions fold handles
-- themselves, and show the doubt by its name.

create function ledger.fold_handle(handle text) returns text language sql immutable parallel safe
  return ltrim(replace(lower(ledger.fold_order_id(handle)), ' ', ''), '@');
comment on function ledger.fold_handle(text) is 'Handle of an influencer without what has no meaning: invisible characters, blanks, case, and a leading @. Handles that differ only in these are one.';

create index deal_versions_folded_handle on mirror.deal_versions (ledger.fold_handle(influencer_handle), deal_id)
  where is_latest and is_current;

comment on column intake.orders.doubt is 'Why what the export states may not be the whole order: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut), may_be_repeated (rows of it may occur twice), may_be_split (another file may have more of its rows), conflicting_states (another file states something else, and nothing says which is newer), newer_row_rejected (a row that may be newer could not be used). Null: nothing is in doubt. An order in doubt is held.';
