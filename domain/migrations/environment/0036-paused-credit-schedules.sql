-- A paused schedule ends with its purchase, too. Its refund takes the credits of the grants, so the change wakes the schedule.

create or replace function wake_credit_schedules() returns trigger language plpgsql as $$
begin
  update credit_schedules set look_at = least(look_at, new.updated_at)
    where provider_id = new.provider_id and purchase_ref = new.reference and status <> 'ended';
  return null;
end $$;

do $$ begin
  execute format('alter function wake_credit_schedules() set search_path = %I, pg_temp', current_schema);
end $$;
