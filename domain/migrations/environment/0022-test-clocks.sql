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

-- Looked up for each customer of a clock, to find the next instant at which something is due.
create index credit_grants_expiring_of_customer on credit_grants (provider_id, customer_ref) where expiry_due_at is not null;

-- The payment processor has real time, so what is checked there is due in real time, whatever the time of the customer. A due time that
-- was decided by the time of a clock is written as the real time that is as far ahead. Times in real time are left alone: a clock
-- is at least two days ahead of it.
create function due_in_real_time() returns trigger language plpgsql as $$
declare
  due timestamptz := (to_jsonb(new) ->> tg_argv[0])::timestamptz;
  clock_time timestamptz;
begin
  select clock.time_reached into clock_time
  from customers
    join test_clocks as clock on clock.provider_id = customers.provider_id and clock.reference = customers.test_clock_ref
  where customers.provider_id = new.provider_id and customers.reference = new.customer_ref;
  if clock_time is null or due < clock_time - interval '1 day' then
    return new;
  end if;
  return jsonb_populate_record(
    new, jsonb_build_object(tg_argv[0], clock_timestamp() + greatest(due - clock_time, interval '0'))
  );
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
