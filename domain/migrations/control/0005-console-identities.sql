-- Accounts at an OpenID Connect issuer with which users of the console sign in. The first sign-in links the account to the user
-- with its email address. Afterwards another account with that address does not sign in this user.
create table console_identities (
  provider_id text not null,
  user_id text not null,
  issuer text not null,
  -- The issuer's name for the account, which it never gives to another one.
  subject text not null,
  created_at timestamptz not null,
  primary key (provider_id, user_id, issuer),
  foreign key (provider_id, user_id) references console_users (provider_id, user_id) on delete cascade
);

create unique index console_identities_by_account on console_identities (issuer, subject, provider_id);

create trigger audited after insert or update or delete on console_identities
  for each row execute function audit_row('user_id,issuer');
