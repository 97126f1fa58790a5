-- The audit log: one row for each row of the audited tables that a transaction inserted, updated or deleted, written by
-- triggers in that transaction. Rows are only appended. The services have no right to change them or to append any themselves.
-- Written by: `audit_row`, the trigger function of every table whose trigger is named `audited`. Sealed by: control-plane.

create table audit_log (
  id bigint generated always as identity primary key,
  provider_id text not null,
  -- Null for objects that belong to both environments.
  environment text,
  at timestamptz not null,
  -- `key:<key>`, `user:<user>`, `job:<name>`, `cli:<user>`; `database:<login>` for a change that Tollgate did not make.
  actor text not null,
  -- The route, the job or the command; empty if unknown.
  operation text not null,
  request_id text,
  ip text,
  -- The table, and the key of the row in it.
  kind text not null,
  reference text not null,
  action text not null check (action in ('insert', 'update', 'delete')),
  -- Changed columns of an update. Values are not stored, because some are secret, and some are personal data that may have to
  -- be erased.
  changed_columns text[],
  before_sha256 text,
  after_sha256 text
);

create index audit_log_newest on audit_log (provider_id, at desc, id desc);
create index audit_log_of_reference on audit_log (provider_id, reference, at desc);
create index audit_log_in_order on audit_log (provider_id, id);

-- Each seal covers the rows appended for a provider since the previous seal, as a link of a chain. Altering, removing or
-- inserting a row later breaks the chain from there on.
create table audit_seals (
  provider_id text not null,
  number bigint not null,
  -- The seal covers the ids after this one ...
  after_id bigint not null,
  -- ... up to this one.
  up_to_id bigint not null,
  entries bigint not null,
  -- Hash of the previous seal, and hash of the entries of this seal in order; see `domain/src/audit/chain.ts`.
  previous_sha256 text not null,
  sha256 text not null,
  sealed_at timestamptz not null,
  primary key (provider_id, number)
);

alter table audit_log enable row level security, force row level security;
create policy own_provider on audit_log for select to tollgate_requests
  using (provider_id = nullif(current_setting('tollgate.provider_id', true), ''));
create policy all_providers on audit_log for select to tollgate_jobs using (true);
-- For `audit_row`, which runs as the owner. No other role has the right to insert.
create policy appended on audit_log for insert with check (true);
grant select on audit_log to tollgate_requests, tollgate_jobs;

alter table audit_seals enable row level security, force row level security;
create policy own_provider on audit_seals for select to tollgate_requests
  using (provider_id = nullif(current_setting('tollgate.provider_id', true), ''));
create policy all_providers on audit_seals for select to tollgate_jobs using (true);
create policy appended on audit_seals for insert to tollgate_jobs with check (true);
grant select on audit_seals to tollgate_requests, tollgate_jobs;
grant insert on audit_seals to tollgate_jobs;

-- The owner has every right. This prevents accidental changes by the owner.
create function audit_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'what was recorded stays as it is';
end $$;

create trigger audit_log_stays before update or delete or truncate on audit_log
  for each statement execute function audit_refuse_change();
create trigger audit_seals_stay before update or delete or truncate on audit_seals
  for each statement execute function audit_refuse_change();

-- Arguments: the key columns of the row, then the columns that only jobs change, separated by commas. An update of only such
-- columns is not audited. The actor of the transaction is in its settings, see `domain/src/audit/actor.ts`.
create function audit_row() returns trigger language plpgsql security definer as $$
declare
  moved text[] := string_to_array(coalesce(tg_argv[1], ''), ',');
  was jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) - moved end;
  is_now jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) - moved end;
  one jsonb := coalesce(is_now, was);
  changed text[];
begin
  if tg_op = 'UPDATE' then
    select array_agg(key order by key) into changed
    from jsonb_each(is_now) where value is distinct from was -> key;
    if changed is null then
      return null;
    end if;
  end if;
  insert into audit_log (
    provider_id, environment, at, actor, operation, request_id, ip, kind, reference, action, changed_columns,
    before_sha256, after_sha256
  )
  values (
    one ->> 'provider_id',
    tg_table_schema,
    clock_timestamp(),
    coalesce(nullif(current_setting('tollgate.actor', true), ''), 'database:' || session_user),
    coalesce(current_setting('tollgate.operation', true), ''),
    nullif(current_setting('tollgate.request_id', true), ''),
    nullif(current_setting('tollgate.ip', true), ''),
    tg_table_name,
    (select string_agg(one ->> name, '/') from unnest(string_to_array(tg_argv[0], ',')) as name),
    lower(tg_op),
    changed,
    encode(sha256(convert_to(was::text, 'UTF8')), 'hex'),
    encode(sha256(convert_to(is_now::text, 'UTF8')), 'hex')
  );
  return null;
end $$;

-- The function runs with the owner's rights, so its search path must not contain tables that its caller created.
do $$ begin
  execute format('alter function audit_row() set search_path = %I, pg_temp', current_schema);
end $$;
