-- Events of a commission that name no collaboration, statements of one deal and fees look for the entries of a deal.
create index entries_deal on ledger.entries (deal_id, collab_id) where effect = 'referral' and deal_id is not null;
