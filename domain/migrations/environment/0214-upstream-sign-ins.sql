-- Customers who sign in with an account at Google or GitHub.
-- Written by: control-plane.

-- Browsers that were sent to an upstream and are not back. Each row is used once.
create table customer_upstream_sign_ins (
  provider_id text not null,
  -- Of the state together with the cookie of the browser: another browser finds nothing with the state.
  state_sha256 text primary key check (state_sha256 ~ '^[0-9a-f]{64}$'),
  upstream text not null check (upstream in ('google', 'github')),
  -- Of the page that the browser returns to: that of one request of a client, or of one link.
  page_path text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index customer_upstream_sign_ins_oldest on customer_upstream_sign_ins (expires_at);

-- The address that an account stands for. The account keeps it when its address at the upstream changes, and another account
-- that has the address later does not get it.
create table customer_identities (
  provider_id text not null,
  issuer text not null,
  subject text not null,
  email text not null,
  email_key text not null generated always as (lower(email)) stored,
  -- The customer who had the address when the account was linked. The link holds while the address leads to that customer.
  customer_ref text not null,
  created_at timestamptz not null,
  primary key (provider_id, issuer, subject),
  unique (provider_id, issuer, email_key)
);

create index customer_identities_of_customer on customer_identities (provider_id, customer_ref);

-- The audit log names whose account was linked. It holds digests of the row alone.
create trigger audited after insert or update or delete on customer_identities
  for each row execute function audit_row('customer_ref');

-- Null: a sign-in with a code.
alter table customer_browser_sessions
  add column issuer text,
  add column subject text,
  add check ((issuer is null) = (subject is null));
