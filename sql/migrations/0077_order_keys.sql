-- One identity of an order, however it is spelled: `="5001"`, an id with a zero-width space and 5001 are one order, and so are the platforms hshop
-- and HShop. src/model/text/order-key.ts has the same rules for text that is not in the database; a test compares both.

create function ledger.fold_order_id(order_id text) returns text language sql immutable parallel safe
  return case
    when order_id ~ '^[0-9A-Za-z#_/.-]+$' then order_id
    else regexp_replace(
      regexp_replace(
        regexp_replace(
          normalize(
            translate(
              regexp_replace(order_id,
                '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+',
                '', 'g'),
              '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～',
              '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'),
            nfc),
          '[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'),
        '^[ ''"=]+', ''),
      '[ ''"]+$', '')
  end;
comment on function ledger.fold_order_id(text) is 'Order id without what nobody can mean: invisible characters, outer blanks, quotes and ="…", full-width characters. Ids that differ only in these are one order.';

create function ledger.fold_platform(order_platform text) returns text language sql immutable parallel safe
  return lower(ledger.fold_order_id(order_platform) collate "C");
comment on function ledger.fold_platform(text) is 'Shop platform folded like an order id, and in lower case (A to Z, in every locale).';

create function ledger.is_platform(told text, order_platform text) returns boolean language sql immutable parallel safe
  return ledger.fold_platform(coalesce(told, order_platform)) = ledger.fold_platform(order_platform);
comment on function ledger.is_platform(text, text) is 'Whether what is told about an order can be about an order of this platform. What names no platform can be about any.';

create function ledger.written_key(order_platform text, order_id text) returns text language sql immutable parallel safe
  return '[' || to_json(order_platform)::text || ',' || to_json(order_id)::text || ']';
comment on function ledger.written_key(text, text) is 'Key of a referral as versions before order_key made it: JSON of platform and order id as they are written.';

create function ledger.order_key(order_platform text, order_id text) returns text language sql immutable parallel safe
  return ledger.written_key(ledger.fold_platform(order_platform), ledger.fold_order_id(order_id));
comment on function ledger.order_key(text, text) is 'Idempotency key of a referral: JSON of the folded platform and the folded order id. Equal for every spelling of one order.';

-- Entries keep the key under which they were made, because journals outside of the database name it by its digest.
alter table ledger.entries add column order_key text;
comment on column ledger.entries.order_key is 'Of referrals that were made under another spelling of their key by an earlier version: ledger.order_key of the order, by which the entry is found. Null if key is that already.';
update ledger.entries set order_key = ledger.order_key(order_platform, order_id)
where effect = 'referral' and key = ledger.written_key(order_platform, order_id) and key <> ledger.order_key(order_platform, order_id);
create index entries_respelled on ledger.entries (account_id, effect, order_key) where order_key is not null;

-- A process of the version before would not find an order under its folded key, and make a second entry.
create function ledger.refuse_written_key() returns trigger language plpgsql as $refuse$
begin
  raise exception 'the key of this order is spelled as earlier versions did: stop the processes of the earlier version'
    using errcode = 'check_violation';
end $refuse$;
comment on function ledger.refuse_written_key() is 'Trigger: refuses a new referral whose key is not folded, which only processes of an earlier version make.';
create trigger key_is_folded before insert on ledger.entries for each row
  when (new.effect = 'referral' and new.order_key is null
    and new.key = ledger.written_key(new.order_platform, new.order_id) and new.key <> ledger.order_key(new.order_platform, new.order_id))
  execute function ledger.refuse_written_key();

-- Looked up by the folded id, so that what another system told under another spelling is found.
drop index ledger.entries_order;
create index entries_order on ledger.entries (ledger.fold_order_id(order_id));
drop index ledger.evidence_order;
create index evidence_order on ledger.evidence (ledger.fold_order_id(order_id));

-- Orders that were read under a spelling that is folded now take the folded id, so that the next export finds them. Where a source has one order
-- under several spellings, they stay as they are: the ledger has one entry or several for them, and no rule could say which counts.
create temporary table respelled on commit drop as
  select r.* from (
    select source, min(order_id) as order_id, ledger.fold_order_id(order_id) as folded
    from intake.orders where order_id !~ '^[0-9A-Za-z#_/.-]+$' and ledger.fold_order_id(order_id) not in (order_id, '')
    group by source, ledger.fold_order_id(order_id) having count(distinct order_id) = 1
  ) r
  where not exists (select from intake.orders o where o.source = r.source and o.order_id = r.folded);
update intake.orders o set order_id = r.folded from respelled r where o.source = r.source and o.order_id = r.order_id;
update intake.attributions o set order_id = r.folded from respelled r where o.source = r.source and o.order_id = r.order_id;
update intake.order_claims o set order_id = r.folded from respelled r where o.source = r.source and o.order_id = r.order_id;
update reporting.order_dispositions o set order_id = r.folded from respelled r where o.source = r.source and o.order_id = r.order_id;
update reporting.conflicts o set order_id = r.folded from respelled r where o.source = r.source and o.order_id = r.order_id;

alter table intake.orders add column similar_to text;
comment on column intake.orders.similar_to is 'The order id without what tools write differently (case, #, blanks, leading zeros, separators of thousands), if that is another text; null: the id is plain. Orders of one source with an equal value may be one order.';
update intake.orders o set similar_to = s.loose
from (
  select order_version_id, case when visible ~ '^[0-9]{1,3}([.,''\u2019][0-9]{3})+$' then regexp_replace(visible, '[^0-9]', '', 'g')
    else regexp_replace(visible, '^([0-9]+)[.,]0+$', '\1') end as loose
  from (
    select order_version_id, regexp_replace(regexp_replace(lower(normalize(order_id, nfkc)), '\s+', '', 'g'), '^[#0]+(?=.)', '') as visible
    from intake.orders where is_current and order_id !~ '^(0|[1-9a-z][0-9a-z_/-]*)$'
  ) v
) s
where o.order_version_id = s.order_version_id and s.loose not in ('', o.order_id);
create index orders_similar on intake.orders (source, similar_to) where similar_to is not null and is_current;
