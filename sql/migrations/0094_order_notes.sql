-- A job may send the notes of the shop with its orders (order_notes). They are no part of what an order means.

alter table intake.orders add column note text check (char_length(note) <= 500);
comment on column intake.orders.note is 'What the notes of the shop say, with e-mail addresses and phone numbers masked, cut to 500 characters. Only for jobs that send it (order_notes); null otherwise. As first read: another note makes no other version.';
comment on column ledger.entries.details is 'What is no part of the body, or special to the effect: of a referral the note of the shop that is sent with it, and whether without the reference; of a click target, period, from and clicks; of a deal handle, platform and dealflow; of an outreach the ids of its influencers.';
