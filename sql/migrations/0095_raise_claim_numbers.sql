-- Numbers of claims may be large. A recovery raises them in one step, however many it passes over.

create function ledger.raise_claim_numbers(above bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $raise$
begin
  -- It changes nothing, but no other session draws a number from here until this transaction ends. Without it, a number
  -- that is drawn between the comparison and setval could be drawn again. Only the owner may do this.
  alter sequence ledger.claim_numbers increment by 1;
  perform setval('ledger.claim_numbers', above) from ledger.claim_numbers
    where last_value < above or (last_value = above and not is_called);
end $raise$;
comment on function ledger.raise_claim_numbers(bigint) is 'Makes sure that the next claim has a number above the given one, and above each that was drawn.';
revoke execute on function ledger.raise_claim_numbers(bigint) from public;
if exists (select from pg_roles where rolname = 'influencer_sync_app') then
  grant execute on function ledger.raise_claim_numbers(bigint) to influencer_sync_app;
end if;
