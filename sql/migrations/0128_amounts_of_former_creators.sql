-- A deal that changed hands has an amount for each of its creators in a statement, and a payment of one claims only theirs.
comment on column ops.payment_items.subject is 'deal: and the deal, with the creator if the statement has lines of several; or for a fee of a code without a deal the subject of its lines.';
