-- A first run of 500,000 orders updated the reports in one session, while the other core waited.

create table reporting.refresh_partitions (
  partition_no smallint primary key
);
insert into reporting.refresh_partitions values (0), (1);
comment on table reporting.refresh_partitions is 'Halves of a large refresh, which two sessions work through at the same time. A step locks the row of its half, so that no other refresh writes there.';
comment on column reporting.refresh_partitions.partition_no is '0 or 1: by the hash of an order id, or by the number of a day.';
