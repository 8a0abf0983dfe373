-- Clicks that were posted stay attributed when the job no longer reads their source, and say so. What the service has refused of them is then closed.

alter table intake.clicks drop constraint what_is_not_attributed_says_why;
alter table intake.clicks add constraint what_is_not_attributed_says_why check (
  outcome is null or (outcome = 'attributed') = (reason is null) or (outcome = 'attributed' and reason = 'source_removed'));

comment on column intake.clicks.reason is 'Why it is not attributed; source_removed on attributed clicks: the job no longer reads their source, so nothing more of them is proposed.';
