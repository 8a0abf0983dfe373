-- Codes that codes.csv gives to more than one owner at the same time, and custom links that events gave to two deals; their orders are held
-- until codes.csv says whose they are. Lines below 0 stand in no file.
select a.job, coalesce(a.code, a.link) as code_or_link, a.line_no, b.line_no as other_line, a.target, b.target as other_target,
  count(o.order_id) as orders_held
from intake.codes a
join intake.codes b on b.job = a.job and b.line_no > a.line_no and b.target <> a.target
  and (b.code_folded = a.code_folded or b.link_folded = a.link_folded)
left join intake.attributions o on o.job = a.job and o.reason in ('ambiguous_codes', 'ambiguous_links')
  and o.matched_value ilike '%' || coalesce(a.code, a.link_folded[1]) || '%'
where coalesce(a.valid_from, '-infinity') < coalesce(b.valid_to, 'infinity')
  and coalesce(b.valid_from, '-infinity') < coalesce(a.valid_to, 'infinity')
group by 1, 2, 3, 4, 5, 6
order by orders_held desc;
