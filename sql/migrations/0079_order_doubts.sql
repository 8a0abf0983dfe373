-- Only whole orders are credited: an order of which a row is missing, cut or repeated says so, and is held.

alter table intake.orders add column doubt text check (doubt ~ '^[a-z][a-z_]{0,40}$');
comment on column intake.orders.doubt is 'Why what the export states may not be the whole order: incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut). Null: nothing is in doubt. An order in doubt is held.';
