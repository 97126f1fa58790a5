-- Test clocks of the sandbox: a time of their own for some customers of a provider.
-- Written by: control-plane creates, pauses and deletes clocks, billing-runner advances them.

create table test_clocks (
  provider_id text not null,
  reference text not null unique,
  name text,
  status text not null check (status in ('ready', 'advancing', 'paused', 'failed', 'deleted')),
  -- The time of its customers. Everything that is decided about them is decided at this time.
  time_reached timestamptz not null,
  -- Everything that was due up to here is processed. Earlier than time_reached while an instant is processed, and then its work starts
  -- again after a crash.
  processed_to timestamptz not null,
  -- Where the last advance began and where it ends. Null: the clock was never advanced.
  advance_from timestamptz,
  advance_to timestamptz,
  -- What failed, for people. Set exactly while the status is 'failed'.
  failure text,
  -- Its customers are being deleted, or were when a process died. It takes no new ones, and is not resumed.
  is_deleting boolean not null default false,
  -- The runner that advances the clock, until when by the clock of the database, which all runners share.
  lease_token text,
  leased_until timestamptz,
  -- Real times.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (provider_id, reference),
  check (processed_to <= time_reached),
  check ((status = 'failed') = (failure is not null))
);

create index test_clocks_newest on test_clocks (provider_id, created_at desc, reference) where status <> 'deleted';
create index test_clocks_advancing on test_clocks (reference) where status = 'advancing';
create index test_clocks_existing on test_clocks (expires_at) where status <> 'deleted';

-- Columns that the runner writes at each instant are not audited: the call that advances the clock is.
create trigger audited after insert or update or delete on test_clocks
  for each row execute function
    audit_row('reference', 'time_reached,processed_to,lease_token,leased_until,updated_at');

alter table customers
  -- The clock of the customer, from the customer's creation on. Null: real time.
  add column test_clock_ref text,
  add constraint customers_test_clock_fkey foreign key (provider_id, test_clock_ref) references test_clocks (provider_id, reference);

-- The jobs of real time leave these customers out, and a clock selects its own.
create index customers_on_test_clocks on customers (provider_id, reference) where test_clock_ref is not null;
create index customers_of_test_clock on customers (provider_id, test_clock_ref) where test_clock_ref is not null;

-- The real time of what was recorded at the time of a clock. Null: created_at is real. Data is kept for some real time.
alter table outbox add column recorded_at timestamptz;
alter table webhook_deliveries add column recorded_at timestamptz;
create index webhook_deliveries_recorded on webhook_deliveries (provider_id, endpoint_ref, recorded_at)
  where recorded_at is not null;

-- Looked up for each customer of a clock, to find the next instant at which something is due.
create index credit_grants_expiring_of_customer on credit_grants (provider_id, customer_ref) where expiry_due_at is not null;

-- The payment processor has real time, so what is checked there is due in real time, whatever the time of the customer, and calls are
-- sent in real time. A time that was decided by a clock is written as the real time that is as far ahead. Times until one day ahead
-- are left alone: those of real time are, and a clock is at least two days ahead of it. Rows without customer_ref have intent_ref.
create function due_in_real_time() returns trigger language plpgsql as $$
declare
  written jsonb := to_jsonb(new);
  ahead jsonb := '{}';
  field text;
  clock_time timestamptz;
begin
  foreach field in array tg_argv loop
    if (written ->> field)::timestamptz >= clock_timestamp() + interval '1 day' then
      ahead := ahead || jsonb_build_object(field, written ->> field);
    end if;
  end loop;
  if ahead = '{}' then
    return new;
  end if;
  select clock.time_reached into clock_time
  from customers
    join test_clocks as clock on clock.provider_id = customers.provider_id and clock.reference = customers.test_clock_ref
  where customers.provider_id = new.provider_id and customers.reference = coalesce(written ->> 'customer_ref', (
    select intent.customer_ref from payment_intents as intent
    where intent.provider_id = new.provider_id and intent.reference = written ->> 'intent_ref'));
  if clock_time is null then
    return new;
  end if;
  for field in select jsonb_object_keys(ahead) loop
    ahead := ahead || jsonb_build_object(
      field, clock_timestamp() + greatest((ahead ->> field)::timestamptz - clock_time, interval '0')
    );
  end loop;
  return jsonb_populate_record(new, ahead);
end $$;

do $$ begin
  execute format('alter function due_in_real_time() set search_path = %I, pg_temp', current_schema);
end $$;

create trigger due_in_real_time before insert or update of next_look_at on payment_intents
  for each row when (new.next_look_at is not null) execute function due_in_real_time('next_look_at');
create trigger due_in_real_time before insert or update of due_at on credit_take_backs
  for each row when (new.due_at is not null) execute function due_in_real_time('due_at');
create trigger due_in_real_time before insert or update of removal_due_at on processor_customers
  for each row when (new.removal_due_at is not null) execute function due_in_real_time('removal_due_at');
create trigger due_in_real_time before insert on payment_attempts
  for each row execute function due_in_real_time('sent_at');
