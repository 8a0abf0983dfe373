-- For pages that show a part of a large list: influencers by their followers, deals of a handle, deals of a closed statement.

create index lookups_followers on intake.lookups
  ((-coalesce(followers, -1)), (coalesce(platform, '')), (coalesce(user_id, username, '')), brand_id) where outcome = 'influencer';
create index deal_versions_handle on mirror.deal_versions (lower(ltrim(influencer_handle, '@')), deal_id) where is_latest and is_current;
create index statement_lines_deal on ops.statement_lines (statement_id, currency, deal_id);
