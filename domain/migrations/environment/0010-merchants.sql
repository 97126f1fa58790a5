-- What customers are told about the provider they pay, and its pictures.
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
  -- Beside the provider's default currency.
  topup_currencies text[] not null default '{}',
  updated_at timestamptz not null
);

create table provider_assets (
  provider_id text not null,
  kind text not null check (kind in ('logo', 'icon')),
  -- Of the bytes: part of the public address, so that what is kept in caches never is out of date.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/webp', 'image/gif')),
  bytes bytea not null,
  created_at timestamptz not null,
  primary key (provider_id, kind)
);

create index provider_assets_by_content on provider_assets (sha256);
