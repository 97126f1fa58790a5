-- Users of the console, and the tokens that keep them signed in.
-- Written by: control-plane (also its command line).

-- A person who works for two providers is a user of each: no provider learns of the other.
create table console_users (
  provider_id text not null references providers,
  user_id text not null unique,
  email text not null,
  email_key text not null generated always as (lower(email)) stored,
  name text,
  role text not null check (role in ('owner', 'admin', 'member')),
  -- With its salt and cost; null until one was set. See password-hash.ts.
  password_hash text,
  -- Of the one-time link that sets the password; the newest one alone.
  link_sha256 text unique check (link_sha256 ~ '^[0-9a-f]{64}$'),
  link_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, user_id),
  unique (provider_id, email_key),
  check ((link_sha256 is null) = (link_expires_at is null))
);

create index console_users_by_email on console_users (email_key);

create table access_tokens (
  provider_id text not null,
  user_id text not null,
  -- The token itself is told once and stored nowhere.
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The tokens of one sign-in, which end together when the user signs out.
  sign_in_id text not null,
  environment text not null check (environment in ('sandbox', 'live')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  foreign key (provider_id, user_id) references console_users (provider_id, user_id) on delete cascade
);

create index access_tokens_of_user on access_tokens (provider_id, user_id, created_at desc);

create index access_tokens_oldest on access_tokens (expires_at);

create trigger audited after insert or update or delete on console_users
  for each row execute function audit_row('user_id');

-- Sign-ins are audited. The end of a session is not: it changes nothing.
create trigger audited after insert on access_tokens
  for each row execute function audit_row('user_id,sign_in_id');

-- Passwords that were tried, by whom and for whom. The rows belong to no provider, since nobody is signed in yet.
create table sign_in_attempts (
  kind text not null check (kind in ('email', 'address', 'browser')),
  subject text not null,
  attempts int not null check (attempts >= 0),
  -- When counting begins anew.
  window_ends_at timestamptz not null,
  primary key (kind, subject)
);

create index sign_in_attempts_oldest on sign_in_attempts (window_ends_at);

-- Browsers in which an account was signed in to: wrong guesses elsewhere do not keep them from signing in.
-- Read before anybody is signed in. Removed some time after they have expired.
create table known_browsers (
  -- Of the token in the browser's cookie.
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Of the account, the address in lower case: the token counts for no other, and not for another provider's user of that address.
  provider_id text not null references providers,
  email text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index known_browsers_of_email on known_browsers (provider_id, email, created_at desc);

create index known_browsers_oldest on known_browsers (expires_at);

-- How a command line gets a key: it opens a session, a signed-in user of the console allows it or refuses it, and the command
-- line fetches the key. Sessions are removed some time after they have expired. They belong to no provider: who opens one is
-- not known yet.
create table cli_sessions (
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  -- Of the token that the key is fetched with.
  poll_sha256 text not null check (poll_sha256 ~ '^[0-9a-f]{64}$'),
  -- Of the network, that it was opened from.
  address text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- What the User-Agent header says, shown to the user who is asked. Null: the client sent none.
  device text
);

create index cli_sessions_of_address on cli_sessions (address, expires_at);

create index cli_sessions_oldest on cli_sessions (expires_at);

-- At most one for each session: of two answers the first one stands.
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
