-- Does every row of every sealed file count exactly once, as stored now? No row in the answer: yes.
select f.source_file_id, f.source, f.uri, f.rows_read, f.order_rows, f.rejected_rows, r.stored as rejected_stored
from intake.source_files f
cross join lateral (
  select coalesce(sum(row_count), 0) as stored from intake.rejected_rows r where r.source_file_id = f.source_file_id) r
where f.state = 'sealed' and (f.rows_read <> f.order_rows + f.rejected_rows or f.rejected_rows <> r.stored);

-- Orders that a job should have decided about and has not, or has credited without an entry. No row: none. Not during a run.
select o.source, o.order_id, a.job, a.outcome
from intake.orders o
join intake.source_files f on f.source_file_id = o.source_file_id and f.state = 'sealed'
join intake.attributed_files d on d.source_file_id = f.source_file_id
left join intake.attributions a on a.job = d.job and a.source = o.source and a.order_id = o.order_id
where o.is_current and (a.job is null or (a.outcome = 'attributed' and a.entry_id is null))
limit 100;
