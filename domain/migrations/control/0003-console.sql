-- Users of the console, and the tokens that keep them signed in.
-- Written by: control-plane (also its command line).

-- A person who works for two providers is a separate user of each, so neither provider learns about the other.
create table console_users (
  provider_id text not null references providers,
  user_id text not null unique,
  email text not null,
  email_key text not null generated always as (lower(email)) stored,
  name text,
  role text not null check (role in ('owner', 'admin', 'member')),
  -- Hash of the password with its salt and cost. Null until a password is set. See password-hash.ts.
  password_hash text,
  -- Digest of the newest one-time link to set the password. Older links are invalid.
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
  -- The token itself is sent once and not stored.
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

-- Sign-ins are audited. The end of a session is not.
create trigger audited after insert on access_tokens
  for each row execute function audit_row('user_id,sign_in_id');

-- Counts of wrong passwords, by network address and by email address. The rows belong to no provider, because no user is signed
-- in yet.
create table sign_in_attempts (
  kind text not null check (kind in ('email', 'address', 'browser')),
  subject text not null,
  attempts int not null check (attempts >= 0),
  -- End of the window, after which counting starts again.
  window_ends_at timestamptz not null,
  primary key (kind, subject)
);

create index sign_in_attempts_oldest on sign_in_attempts (window_ends_at);

-- Browsers in which an account has signed in before. Wrong passwords in other browsers do not lock them out. The rows are read
-- before a user is signed in, and deleted some time after they have expired.
create table known_browsers (
  -- Digest of the token in the browser's cookie.
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Digest of the account with the email address in lower case. The token is valid for this account only, and not for another
  -- provider's user with the same address.
  provider_id text not null references providers,
  email text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index known_browsers_of_email on known_browsers (provider_id, email, created_at desc);

create index known_browsers_oldest on known_browsers (expires_at);

-- Sessions in which a command line gets a key: it opens a session, a signed-in console user allows or refuses it, and the
-- command line fetches the key. Sessions are deleted some time after they have expired. They belong to no provider, because the
-- user is not known yet.
create table cli_sessions (
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  -- Digest of the token with which the key is fetched.
  poll_sha256 text not null check (poll_sha256 ~ '^[0-9a-f]{64}$'),
  -- Digest of the network address from which the session was opened.
  address text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The User-Agent header, shown to the console user who decides. Null if the client sent none.
  device text
);

create index cli_sessions_of_address on cli_sessions (address, expires_at);

create index cli_sessions_oldest on cli_sessions (expires_at);

-- At most one row per session: the first of two answers counts.
create table cli_session_outcomes (
  session_id text primary key references cli_sessions on delete cascade,
  provider_id text not null,
  outcome text not null check (outcome in ('complete', 'cancelled')),
  -- The user who answered.
  email text not null,
  environment text check (environment in ('sandbox', 'live')),
  key_id text references api_keys,
  -- The encrypted secret key until it is fetched, then null.
  sealed_key text,
  created_at timestamptz not null,
  check (outcome = 'cancelled' or (environment is not null and key_id is not null)),
  check (outcome = 'complete' or sealed_key is null)
);
