-- The authorization server of customers: keys, OAuth records, tokens, sign-ins, and links that require a sign-in.
-- Written by: control-plane. Read by: mcp-proxy (`oauth_signing_keys` and `oauth_revoked_tokens`).

-- The newest active key of a provider signs its access tokens; the others remain until the last token that they signed has
-- expired.
create table oauth_signing_keys (
  provider_id text not null,
  kid text primary key,
  public_jwk jsonb not null,
  -- Encrypted.
  private_jwk text not null,
  -- Start of its use for signatures. Before that, readers of the public keys can already fetch it.
  active_from timestamptz not null,
  created_at timestamptz not null
);

create index oauth_signing_keys_of_provider on oauth_signing_keys (provider_id, active_from desc);

-- The end of all sign-ins removes the keys, and the audit log has the actor. The removal of old keys is not audited.
create trigger audited after delete on oauth_signing_keys
  for each row when (current_setting('tollgate.operation', true) = 'sign-ins end-all')
  execute function audit_row('kid');

-- Clients, interactions, grants, codes and refresh tokens of all issuers.
create table oauth_records (
  provider_id text not null,
  -- Hexadecimal SHA-256 of issuer, model and id, because ids of codes and tokens give access.
  record_sha256 text primary key check (record_sha256 ~ '^[0-9a-f]{64}$'),
  issuer text not null,
  product_ref text not null,
  model text not null,
  -- Encrypted JSON, without `consumed`.
  payload text not null,
  -- Digest of the grant, like that of the record. Null: the record belongs to no grant.
  grant_sha256 text,
  uid_sha256 text,
  -- Only for clients: hexadecimal SHA-256 of the client id, the same for all issuers.
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

-- The ids of access tokens that have not expired. The tokens themselves are not stored.
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
  -- Expiry of the token. After that, the row is no longer needed.
  expires_at timestamptz not null
);

create index oauth_revoked_tokens_oldest on oauth_revoked_tokens (expires_at);

-- An email address that was entered, and the code that was sent to it.
create table customer_sign_ins (
  provider_id text not null,
  -- Digest of the cookie of the browser in which it was entered.
  browser_sha256 text primary key check (browser_sha256 ~ '^[0-9a-f]{64}$'),
  email text not null,
  -- Digest of the code together with the cookie. The cookie is not stored, so the code cannot be found by trying all codes.
  code_sha256 text not null,
  attempts int not null default 0,
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index customer_sign_ins_oldest on customer_sign_ins (expires_at);

-- Browsers whose user has proved to own an email address, per provider.
create table customer_browser_sessions (
  provider_id text not null,
  token_sha256 text primary key check (token_sha256 ~ '^[0-9a-f]{64}$'),
  email text not null,
  name text,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  -- The account at Google or GitHub. Null: a sign-in with a code.
  issuer text,
  subject text,
  check ((issuer is null) = (subject is null))
);

create index customer_browser_sessions_oldest on customer_browser_sessions (expires_at);
create index customer_browser_sessions_by_email on customer_browser_sessions (provider_id, lower(email));

-- Counts of requested codes, entered codes and registered clients within a window. The rows belong to no provider, because a
-- network is limited over all providers.
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

-- A client of an agent for a customer is created by the provider with a key. The audit log has the actor.
create trigger audited after insert on oauth_records
  for each row when (new.model = 'Client' and new.customer_ref is not null)
  execute function audit_row('customer_ref');

-- Links that lead a customer to a checkout, a top-up or the portal after a sign-in.
create table customer_links (
  provider_id text not null,
  -- Digest of the id in the link.
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

-- The audit log has the actor that created a link. No entry contains its id.
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

-- Browsers that were redirected to Google or GitHub and have not returned. Each row is used once.
create table customer_upstream_sign_ins (
  provider_id text not null,
  -- Digest of the state together with the cookie of the browser, so that another browser cannot use the state.
  state_sha256 text primary key check (state_sha256 ~ '^[0-9a-f]{64}$'),
  upstream text not null check (upstream in ('google', 'github')),
  -- The page to which the browser returns: the page of one request of a client, or of one link.
  page_path text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);

create index customer_upstream_sign_ins_oldest on customer_upstream_sign_ins (expires_at);

-- The email address of an account at Google or GitHub. The account keeps it if its address there changes, and another account
-- that has the address later does not get it.
create table customer_identities (
  provider_id text not null,
  issuer text not null,
  subject text not null,
  email text not null,
  email_key text not null generated always as (lower(email)) stored,
  -- The customer that had the address when the account was linked. The link is valid while the address belongs to that
  -- customer.
  customer_ref text not null,
  created_at timestamptz not null,
  primary key (provider_id, issuer, subject),
  unique (provider_id, issuer, email_key)
);

create index customer_identities_of_customer on customer_identities (provider_id, customer_ref);

-- The audit log has the customer whose account was linked, and only digests of the row.
create trigger audited after insert or update or delete on customer_identities
  for each row execute function audit_row('customer_ref');
