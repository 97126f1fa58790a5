-- Meters that read events: what they read, by version. A change of a version never changes records, which say what was counted.
-- Written by: control-plane.

alter table meters drop constraint meters_aggregation_check;
alter table meters
  add constraint meters_aggregation_check check (aggregation in ('count', 'sum', 'max', 'unique', 'last')),
  -- Type, filter, pointers and dimensions of a meter that reads events. Null: the meter counts the calls that name it.
  add column reading jsonb,
  -- 0 if the meter reads no events.
  add column version integer not null default 0,
  -- Time from which the version applies.
  add column version_since timestamptz,
  -- The meter on which plan limits are counted counts calls.
  add constraint meters_requests_counts_calls check (name <> 'requests' or reading is null);

-- Every version of what a meter has read. Rows never change.
create table meter_versions (
  provider_id text not null,
  meter_ref text not null,
  version integer not null,
  reading jsonb not null,
  since timestamptz not null,
  primary key (provider_id, meter_ref, version),
  foreign key (provider_id, meter_ref) references meters (provider_id, reference)
);

create trigger audited after insert or update or delete on meter_versions
  for each row execute function audit_row('meter_ref,version');
