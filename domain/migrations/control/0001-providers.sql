-- Providers and their secret keys: what belongs to neither environment.
-- Written by: control-plane (its command line).

create table providers (
  provider_id text primary key,
  name text not null,
  email text,
  -- Locked after the provider's first transaction; plans are priced in it.
  default_currency text not null check (default_currency ~ '^[A-Z]{3}$'),
  -- 'calendar': months keep their anchor day; 'fixed_days': 30, 90 and 365 days.
  cycle_mode text not null default 'calendar' check (cycle_mode in ('calendar', 'fixed_days')),
  created_at timestamptz not null
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
  revoked_at timestamptz
);

create index api_keys_of_provider on api_keys (provider_id, created_at);
