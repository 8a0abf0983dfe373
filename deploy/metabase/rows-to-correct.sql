-- Title: Which rows still wait for a correction?
-- Description: Rows of files that could not be used, and whose order no later file states.
-- View: bi.rejected_rows
select source, file, line_no, order_id, reason, rows
from bi.rejected_rows
where not is_settled
order by source, file, line_no
limit 200;
