-- How a command line gets a key: it opens a session, a signed-in user of the console says yes or no, it fetches the key.
-- Written by: control-plane. Swept some time after they have expired.

-- Belongs to no provider: whoever opens it is not known yet.
create table cli_sessions (
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  -- Of the token that the key is fetched with.
  poll_sha256 text not null check (poll_sha256 ~ '^[0-9a-f]{64}$'),
  -- Of the network, that it was opened from.
  address text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index cli_sessions_of_address on cli_sessions (address, expires_at);
create index cli_sessions_oldest on cli_sessions (expires_at);

-- One for each session at most: of two answers the first one stands.
create table cli_session_outcomes (
  session_id text primary key references cli_sessions on delete cascade,
  provider_id text not null,
  outcome text not null check (outcome in ('complete', 'cancelled')),
  -- Who answered.
  email text not null,
  environment text check (environment in ('sandbox', 'live')),
  key_id text references api_keys,
  -- The secret key until it is fetched, sealed; null from then on.
  sealed_key text,
  created_at timestamptz not null,
  check (outcome = 'cancelled' or (environment is not null and key_id is not null)),
  check (outcome = 'complete' or sealed_key is null)
);
