-- The authorization server of customers: keys, what it stores, tokens, sign-ins, and links that need a sign-in.
-- Written by: control-plane. Read by: mcp-proxy (`oauth_signing_keys` and `oauth_revoked_tokens`).

-- The newest active key of a provider signs its access tokens; the others stay until the last token they signed has expired.
create table oauth_signing_keys (
  provider_id text not null,
  kid text primary key,
  public_jwk jsonb not null,
  -- Sealed.
  private_jwk text not null,
  -- From then on it signs. Earlier, readers of the public keys get to know it.
  active_from timestamptz not null,
  created_at timestamptz not null
);

create index oauth_signing_keys_of_provider on oauth_signing_keys (provider_id, active_from desc);

-- Ending all sign-ins removes the keys, and the audit log names who did so. Removing old keys is not audited.
create trigger audited after delete on oauth_signing_keys
  for each row when (current_setting('tollgate.operation', true) = 'sign-ins end-all')
  execute function audit_row('kid');

-- Clients, interactions, grants, codes and refresh tokens of all issuers.
create table oauth_records (
  provider_id text not null,
  -- Hexadecimal SHA-256 of issuer, model and id: ids of codes and tokens let their bearer in.
  record_sha256 text primary key check (record_sha256 ~ '^[0-9a-f]{64}$'),
  issuer text not null,
  product_ref text not null,
  model text not null,
  -- Sealed JSON, without `consumed`.
  payload text not null,
  -- As the record's own; null: the record belongs to no grant.
  grant_sha256 text,
  uid_sha256 text,
  -- Of clients alone: hexadecimal SHA-256 of the client id, the same for all issuers.
  client_sha256 text,
  customer_ref text,
  consumed_at timestamptz,
  -- Null: it does not expire.
  expires_at timestamptz,
  created_at timestamptz not null
);

create index oauth_records_of_grant on oauth_records (grant_sha256) where grant_sha256 is not null;
create index oauth_records_by_uid on oauth_records (uid_sha256) where uid_sha256 is not null;
create index oauth_records_of_client on oauth_records (client_sha256) where client_sha256 is not null;
create index oauth_records_of_customer on oauth_records (provider_id, customer_ref) where customer_ref is not null;
create index oauth_records_oldest on oauth_records (expires_at) where expires_at is not null;

-- The ids of access tokens that have not expired. The tokens themselves are stored nowhere.
create table oauth_access_tokens (
  provider_id text not null,
  jti text primary key,
  issuer text not null,
  grant_sha256 text,
  customer_ref text not null,
  expires_at timestamptz not null
);

create index oauth_access_tokens_of_grant on oauth_access_tokens (grant_sha256) where grant_sha256 is not null;
create index oauth_access_tokens_of_customer on oauth_access_tokens (provider_id, customer_ref);
create index oauth_access_tokens_oldest on oauth_access_tokens (expires_at);

-- The ids of access tokens that are refused although they have not expired.
create table oauth_revoked_tokens (
  provider_id text not null,
  jti text primary key,
  revoked_at timestamptz not null,
  -- Of the token: afterwards the row is of no use.
  expires_at timestamptz not null
);

create index oauth_revoked_tokens_oldest on oauth_revoked_tokens (expires_at);

-- An email address that was entered, and the code that was sent to it.
create table customer_sign_ins (
  provider_id text not null,
  -- Of the cookie of the browser in which it was entered.
  browser_sha256 text primary key check (browser_sha256 ~ '^[0-9a-f]{64}$'),
  email text not null,
  -- Of the code together with the cookie, which is stored nowhere: the code cannot be found by trying all of them.
  code_sha256 text not null,
  attempts int not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index customer_sign_ins_oldest on customer_sign_ins (expires_at);

-- Browsers in which somebody has proved to own an email address, at one provider.
create table customer_browser_sessions (
  provider_id text not null,
  token_sha256 text primary key check (token_sha256 ~ '^[0-9a-f]{64}$'),
  email text not null,
  name text,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- Of the account at Google or GitHub. Null: a sign-in with a code.
  issuer text,
  subject text,
  check ((issuer is null) = (subject is null))
);

create index customer_browser_sessions_oldest on customer_browser_sessions (expires_at);
create index customer_browser_sessions_by_email on customer_browser_sessions (provider_id, lower(email));

-- Codes that were requested, codes that were tried, and clients that were registered, within a window. No provider's: a
-- network is limited at all of them together.
create table customer_auth_attempts (
  kind text not null check (
    kind in (
      'code-email', 'code-email-day', 'code-tags', 'code-address', 'guess-address', 'register-address', 'authorize-address'
    )
  ),
  -- A digest.
  subject text not null,
  attempts int not null check (attempts > 0),
  window_ends_at timestamptz not null,
  primary key (kind, subject)
);

create index customer_auth_attempts_oldest on customer_auth_attempts (window_ends_at);

-- A client that an agent has for a customer is made by whoever sells, with a key: the audit log names them.
create trigger audited after insert on oauth_records
  for each row when (new.model = 'Client' and new.customer_ref is not null)
  execute function audit_row('customer_ref');

-- Links that lead a customer who signs in to a checkout, a top-up or the portal.
create table customer_links (
  provider_id text not null,
  -- Of the id in the link.
  link_sha256 text primary key check (link_sha256 ~ '^[0-9a-f]{64}$'),
  customer_ref text not null,
  product_ref text not null,
  purpose text not null check (purpose in ('checkout', 'topup', 'portal')),
  plan_ref text,
  used_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index customer_links_oldest on customer_links (expires_at);
create index customer_links_of_customer on customer_links (provider_id, customer_ref);

-- The audit log names who issued a link. Its id is in no entry.
create trigger audited after insert on customer_links
  for each row execute function audit_row('customer_ref');

-- Messages of an installation that sends no email, for the page at `/inbox`.
create table inbox_messages (
  provider_id text not null,
  message_id text primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null
);

create index inbox_messages_newest on inbox_messages (created_at);

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
