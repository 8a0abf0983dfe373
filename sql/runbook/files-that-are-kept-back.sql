-- Files that are held, newest first, and reads that did not end. A held file is read again when its layout or its source's settings
-- change, or with `run <job> --file <name>`; `files release` ends the hold of one that is not to be missed.
select source, state, uri, hold_code, hold_message, hold_help, run_id, first_seen_at
from intake.source_files
where state in ('held', 'reading')
order by source_file_id desc
limit 50;
