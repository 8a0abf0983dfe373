-- One row for each deal and funnel step: when the deal entered the step, and how many days it stayed there.
with versions as (
  select
    deal_id,
    funnel_step,
    valid_from,
    lag(funnel_step) over (partition by deal_id order by valid_from) as previous_step
  from {{ source('influencer_sync', 'deal_history') }}
),
steps as (
  select deal_id, funnel_step, valid_from as entered_at
  from versions
  where funnel_step is distinct from previous_step or previous_step is null
)
select
  steps.deal_id,
  deals.brand_id,
  steps.funnel_step,
  steps.entered_at,
  lead(steps.entered_at) over (partition by steps.deal_id order by steps.entered_at) as left_at,
  extract(epoch from coalesce(
    lead(steps.entered_at) over (partition by steps.deal_id order by steps.entered_at),
    now()
  ) - steps.entered_at) / 86400 as days
from steps
join {{ source('influencer_sync', 'deals') }} as deals using (deal_id)
