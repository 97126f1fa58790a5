-- Browsers in which an account was signed in to: guesses elsewhere do not keep it from signing in there.
-- Read before anybody is signed in. Written by: control-plane. Swept once expired.
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

alter table sign_in_attempts
  drop constraint sign_in_attempts_kind_check,
  add constraint sign_in_attempts_kind_check check (kind in ('email', 'address', 'browser'));
