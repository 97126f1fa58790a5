-- How far the usage that was stored is told of with usage.recorded, of each partition of the log. Belongs to no provider,
-- and not to another log.
-- Written by: control-plane.
create table usage_event_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);
