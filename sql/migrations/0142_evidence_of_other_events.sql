-- Signed events of kinds that are not known may name an order, too. They are no proof that it is credited, but an order
-- that was not sent yet is held.
alter table ledger.evidence drop constraint evidence_kind_check;
alter table ledger.evidence add constraint evidence_kind_check
  check (kind in ('webhook_order', 'webhook_other', 'seeded'));
comment on column ledger.evidence.kind is 'webhook_order (a signed event of the service that the order is credited), webhook_other (a signed event of another kind that names the order) or seeded (credited elsewhere before).';
