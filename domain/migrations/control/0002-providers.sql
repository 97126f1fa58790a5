-- Providers and their secret keys, which belong to neither environment.
-- Written by: control-plane (also its command line).

create table providers (
  provider_id text primary key,
  name text not null,
  email text,
  -- Locked after the provider's first transaction; plans are priced in it.
  default_currency text not null check (default_currency ~ '^[A-Z]{3}$'),
  -- 'calendar': months keep their anchor day; 'fixed_days': 30, 90 and 365 days.
  cycle_mode text not null default 'calendar' check (cycle_mode in ('calendar', 'fixed_days')),
  created_at timestamptz not null,
  -- Every provider has a sandbox. A provider that is not live is refused in the live environment, whatever keys it has.
  is_live boolean not null default true
);

create table api_keys (
  key_id text primary key,
  provider_id text not null references providers,
  environment text not null check (environment in ('sandbox', 'live')),
  name text,
  -- The key itself is shown once and stored nowhere.
  sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
  last4 text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  scopes text[] not null default '{ingest,read,manage,webhooks}'
    check (scopes <@ '{ingest,read,manage,webhooks}'::text[] and cardinality(scopes) > 0),
  -- Whether a request is refused that has a name which its operation does not know. Otherwise the answer carries a warning.
  is_strict boolean not null default false
);

create index api_keys_of_provider on api_keys (provider_id, created_at);

create trigger audited after insert or update or delete on providers
  for each row execute function audit_row('provider_id');

create trigger audited after insert or update or delete on api_keys
  for each row execute function audit_row('key_id');

-- The installation that this one was moved from, if any: at most one row.
-- Written by: the command `migrate`, which runs while no service does. The control plane refuses to start on a move that has
-- begun and is not finished.
create table moved_from (
  -- Which installation it is, and all that it held: one that was used since is not the same any more.
  source_id text primary key,
  source_state text not null,
  -- Random; in the names of what is sent to ClickHouse, which drops what it has under the same name.
  move_id text not null,
  -- By step: how far it is.
  steps jsonb not null default '{}',
  started_at timestamptz not null,
  finished_at timestamptz
);
