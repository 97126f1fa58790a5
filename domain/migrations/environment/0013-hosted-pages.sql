-- Sessions of hosted pages. The id of a session gives access, so it is random and short-lived.
-- Written by: control-plane.

-- The portal: purchases, renewals, receipts. Its link opens it once. After that, a cookie identifies the browser that opened
-- it.
create table customer_sessions (
  provider_id text not null,
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  customer_ref text not null,
  product_ref text,
  status text not null check (status in ('active', 'used')),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Digest of the cookie. Null until the link is used.
  cookie_sha256 text unique check (cookie_sha256 ~ '^[0-9a-f]{64}$'),
  open_until timestamptz,
  -- The actor that created it, as in the audit log: `key:<key>`, `user:<user>`.
  issued_by text,
  -- A language with or without a region, such as `pt-BR`. Null: the language of the browser.
  locale text,
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  constraint customer_sessions_opened check (
    (status = 'used') = (cookie_sha256 is not null) and (cookie_sha256 is null) = (open_until is null)
  )
);

create index customer_sessions_oldest on customer_sessions (expires_at);
-- The number of open sessions of a customer is limited.
create index customer_sessions_unused on customer_sessions (provider_id, customer_ref, expires_at)
  where status = 'active';

create table checkout_sessions (
  provider_id text not null,
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  reference text not null unique,
  customer_ref text not null,
  purpose text not null check (purpose in ('product', 'credit_topup')),
  product_ref text,
  -- Null: the customer chooses.
  plan_ref text,
  return_url text,
  -- 'expired' is set when the event is emitted. Before that, only the time shows that a session has expired.
  status text not null check (status in ('active', 'used', 'expired')),
  -- Minor units of `currency`; null until the customer has chosen.
  amount bigint check (amount >= 0),
  currency text check (currency ~ '^[A-Z]{3}$'),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The actor that created it: `key:<key>`, or `customer:<reference>` for a customer in the portal.
  issued_by text,
  -- The handle of the portal session in which it was opened. Null: it was created with a key.
  portal_handle text,
  -- False: the checkout sells no plan that ends another purchase. For keys without the scope `manage`.
  may_change_plan boolean not null default true,
  -- The idempotency key of the request. A repeated request gets the same checkout until the row is deleted.
  idempotency_key text,
  -- Hexadecimal SHA-256 of the request. A different request with the same key is refused.
  input_sha256 text,
  -- As in customer_sessions.
  locale text,
  -- Only the browser that completed the checkout can open the portal afterwards, and no other browser with the same link. The
  -- value is the digest of the cookie of the browser that sent a form, `several` after a form of another browser, or `opened`
  -- after the portal was opened. Null: no form was sent.
  browser_sha256 text,
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  check (purpose <> 'product' or product_ref is not null),
  check ((idempotency_key is null) = (input_sha256 is null))
);

create index checkout_sessions_open on checkout_sessions (expires_at) where status = 'active';
create index checkout_sessions_unused on checkout_sessions (provider_id, customer_ref, expires_at)
  where status = 'active';
create unique index checkout_sessions_keys on checkout_sessions (provider_id, idempotency_key)
  where idempotency_key is not null;

-- The audit log has the actor that created a session. No entry contains the id of a session, because the id gives access.
create trigger audited after insert on customer_sessions
  for each row execute function audit_row('customer_ref');
create trigger audited after insert on checkout_sessions
  for each row execute function audit_row('reference');
