-- Which owners the evidence of an order names, where it names more than one: who would win under other rules, and the money between them.

create table intake.order_claims (
  job text not null,
  source text not null,
  order_id text not null,
  place integer not null check (place >= 0),
  kind text not null check (kind in ('explicit', 'link', 'code')),
  written text not null,
  target text not null,
  influencer_handle text,
  deal_id text,
  collab_id text,
  primary key (job, source, order_id, place, target),
  constraint explicit_stands_first check ((kind = 'explicit') = (place = 0))
);
comment on table intake.order_claims is 'Owners whom the evidence of an order names, for orders that name more than one; replaced when the order is decided about again. Orders that are not credited to anybody are left out, unless because of it.';
comment on column intake.order_claims.job is 'Job that decided.';
comment on column intake.order_claims.source is 'Source of the order.';
comment on column intake.order_claims.order_id is 'The order.';
comment on column intake.order_claims.place is 'Where it stands: 0 what the export names, then links and then codes, in the order of the export. Of one code with two owners both have one place.';
comment on column intake.order_claims.kind is 'explicit (columns of the export), link or code.';
comment on column intake.order_claims.written is 'The name, link or code as the export writes it; e-mail addresses masked.';
comment on column intake.order_claims.target is 'Deal, else collaboration, else handle, as in intake.attributions.';
comment on column intake.order_claims.influencer_handle is 'Influencer, where codes.csv or the export says.';
comment on column intake.order_claims.deal_id is 'Deal.';
comment on column intake.order_claims.collab_id is 'Collaboration.';

-- The next run of each job decides about all orders again, which changes no decision, to note what they carry.
update intake.attributed_files set rules_hash = 'before claims';
