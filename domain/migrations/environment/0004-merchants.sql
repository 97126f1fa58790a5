-- The provider's profile for customers, its images, and its rules.
-- Written by: control-plane.

create table merchants (
  provider_id text primary key,
  legal_name text,
  support_email text,
  support_url text,
  terms_url text,
  privacy_url text,
  -- ISO 3166-1 alpha-2.
  country text check (country ~ '^[A-Z]{2}$'),
  company_number text,
  tax_id text,
  vat_number text,
  statement_descriptor text,
  -- In addition to the provider's default currency.
  topup_currencies text[] not null default '{}',
  updated_at timestamptz not null,
  -- An event is emitted if a wallet falls below this number of credits. Null: the price of ten units, or 1,000.
  low_balance_credits bigint check (low_balance_credits >= 0),
  -- Whether access ends when a dispute is lost or when it is opened. Null: when it is lost.
  suspend_on_dispute text check (suspend_on_dispute in ('lost', 'opened')),
  -- Whether a period without charges gets an invoice. Null: no.
  issue_zero_invoices boolean,
  -- Hosts to which the provider's links may lead, or `*.` and a domain for all its subdomains. Null: any host.
  allowed_link_hosts text[] check (cardinality(allowed_link_hosts) > 0),
  -- The name shown to customers in this environment. Null: the provider's own name.
  display_name text check (display_name <> ''),
  -- sRGB in lower case, as in #2f4fd0. Null: the default colour of the pages.
  accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  -- The lines of the postal address, separated by line feeds, without the country.
  address text
);

create table provider_assets (
  provider_id text not null,
  kind text not null check (kind in ('logo', 'icon')),
  -- Digest of the bytes. It is part of the public URL, so that caches are never out of date.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/webp', 'image/gif')),
  bytes bytea not null,
  created_at timestamptz not null,
  primary key (provider_id, kind)
);

create index provider_assets_by_content on provider_assets (sha256);

-- The provider's exchange rates for showing and selling credits. Without a row, a built-in rate is used.
create table exchange_rates (
  provider_id text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$' and currency <> 'USD'),
  -- Units of the currency for one US dollar.
  units_per_dollar numeric(20, 10) not null check (units_per_dollar > 0),
  updated_at timestamptz not null,
  primary key (provider_id, currency)
);

create trigger audited after insert or update or delete on merchants
  for each row execute function audit_row('provider_id');

create trigger audited after insert or update or delete on provider_assets
  for each row execute function audit_row('kind');

create trigger audited after insert or update or delete on exchange_rates
  for each row execute function audit_row('currency');
