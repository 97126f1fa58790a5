-- Who uses a provider's console, and the tokens that keep them signed in.
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

-- Passwords that were tried, by whom and for whom; belongs to no provider, as nobody is signed in yet.
create table sign_in_attempts (
  kind text not null check (kind in ('email', 'address')),
  subject text not null,
  attempts int not null check (attempts > 0),
  -- When counting begins anew.
  window_ends_at timestamptz not null,
  primary key (kind, subject)
);

create index sign_in_attempts_oldest on sign_in_attempts (window_ends_at);
