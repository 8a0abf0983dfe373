-- Collaborations that were read and are not published yet stand in rows of their own: unpacking them from the answers of their deals, once
-- for each statement of a publication, took longer than writing them.

create unlogged table mirror.staged_collaborations (
  collab_id text not null,
  deal_id text not null,
  fetched_at timestamptz not null,
  row_hash text not null,
  fields jsonb not null,
  raw jsonb not null,
  drift jsonb,
  is_newest boolean not null default true,
  primary key (deal_id, collab_id, fetched_at)
);
comment on table mirror.staged_collaborations is 'Collaborations of the answers in mirror.staged. One whose deal has since been answered otherwise is dropped by the publication.';
comment on column mirror.staged_collaborations.collab_id is 'Identity at the service.';
comment on column mirror.staged_collaborations.deal_id is 'Deal in whose answer it stood.';
comment on column mirror.staged_collaborations.fetched_at is 'The moment before the request: with the deal, which answer.';
comment on column mirror.staged_collaborations.row_hash is 'Digest of raw and deal.';
comment on column mirror.staged_collaborations.fields is 'What goes into columns.';
comment on column mirror.staged_collaborations.raw is 'What the service sent, personal fields redacted.';
comment on column mirror.staged_collaborations.drift is 'What did not fit: [{field, kind, expected, found}].';
comment on column mirror.staged_collaborations.is_newest is 'Goes into the history. Of several deals that show it, the one that was asked for last: settled by the publication.';

-- What waits for its publication while this is applied.
insert into mirror.staged_collaborations (collab_id, deal_id, fetched_at, row_hash, fields, raw, drift)
select c.record_id, s.record_id, s.fetched_at, c.row_hash, c.fields, c.raw, c.drift
from mirror.staged s cross join lateral jsonb_to_recordset(s.collaborations)
  as c(record_id text, row_hash text, fields jsonb, raw jsonb, drift jsonb)
where s.outcome = 'read' and s.collaborations is not null
on conflict do nothing;

alter table mirror.staged drop column collaborations;
