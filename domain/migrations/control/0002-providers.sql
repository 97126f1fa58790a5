-- Providers and their secret keys, which do not belong to an environment.
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
  -- Every provider has a sandbox. A provider that is not live is refused in the live environment, even with a live key.
  is_live boolean not null default true
);

create table api_keys (
  key_id text primary key,
  provider_id text not null references providers,
  environment text not null check (environment in ('sandbox', 'live')),
  name text,
  -- The key itself is shown once and not stored.
  sha256 text not null unique check (sha256 ~ '^[0-9a-f]{64}$'),
  last4 text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  scopes text[] not null default '{ingest,read,manage,webhooks}'
    check (scopes <@ '{ingest,read,manage,webhooks}'::text[] and cardinality(scopes) > 0),
  -- Whether a request with an unknown field or parameter is refused. Otherwise the response has a warning.
  is_strict boolean not null default false
);

create index api_keys_of_provider on api_keys (provider_id, created_at);

create trigger audited after insert or update or delete on providers
  for each row execute function audit_row('provider_id');

create trigger audited after insert or update or delete on api_keys
  for each row execute function audit_row('key_id');

-- The installation that this one was moved from, if any: at most one row.
-- Written by: the command `migrate`, which runs while no service is running. The control plane refuses to start on an
-- unfinished move.
create table moved_from (
  -- Digest of the original installation and its content. If that installation was used since, the digest differs.
  source_id text primary key,
  source_state text not null,
  -- Random. Part of the deduplication tokens of inserts into ClickHouse, which ignores an insert with a known token.
  move_id text not null,
  -- Progress of each step.
  steps jsonb not null default '{}',
  started_at timestamptz not null,
  finished_at timestamptz
);
