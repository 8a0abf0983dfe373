-- Codes that codes.csv gives to more than one owner at the same time; their orders are held until it says who.
select a.job, a.code, a.line_no, b.line_no as other_line, a.target, b.target as other_target, count(o.order_id) as orders_held
from intake.codes a
join intake.codes b on b.job = a.job and b.code_folded = a.code_folded and b.line_no > a.line_no and b.target <> a.target
left join intake.attributions o on o.job = a.job and o.reason = 'ambiguous_codes' and o.matched_value ilike '%' || a.code || '%'
where coalesce(a.valid_from, '-infinity') < coalesce(b.valid_to, 'infinity')
  and coalesce(b.valid_from, '-infinity') < coalesce(a.valid_to, 'infinity')
group by 1, 2, 3, 4, 5, 6
order by orders_held desc;
