-- How customers are taxed who never gave tax details, and tax ids and regions of more countries.
-- Written by: control-plane.

alter table merchants
  -- Country, ISO 3166-1 alpha-2, and region, ISO 3166-2 without the country, of customers without tax details. Null: they are
  -- not taxed.
  add column default_tax_country text check (default_tax_country ~ '^[A-Z]{2}$'),
  add column default_tax_region text check (default_tax_region ~ '^[A-Z0-9]{1,3}$'),
  -- Whether prices include their tax if neither the plan nor the product says so. Null: by the custom of the currency.
  add column default_tax_behavior text check (default_tax_behavior in ('inclusive', 'exclusive'));

alter table customer_tax_details
  add column region text check (region ~ '^[A-Z0-9]{1,3}$'),
  drop constraint customer_tax_details_tax_id_type_check,
  add constraint customer_tax_details_tax_id_type_check check (
    tax_id_type in ('eu_vat', 'gb_vat', 'us_ein', 'ch_vat', 'no_vat', 'au_abn', 'nz_gst', 'ca_gst_hst'));

-- What is known about tax ids beyond their format: by the register of the EU, or by a person, whose word stays.
-- Written by: control-plane, billing-runner.
create table tax_id_checks (
  provider_id text not null,
  tax_id text not null,
  -- Unknown: the register could not be asked yet. The tax id then counts as valid.
  status text not null check (status in ('valid', 'invalid', 'unknown')),
  source text not null check (source in ('register', 'person')),
  checked_at timestamptz not null,
  -- When the register is asked again. Null: never, because a person has decided.
  next_check_at timestamptz,
  -- Name and address in the register.
  registered_name text,
  registered_address text,
  -- Proof of the look-up.
  consultation_number text,
  -- Why a person decided.
  reason text,
  primary key (provider_id, tax_id),
  check ((source = 'person') = (reason is not null)),
  check ((source = 'person') = (next_check_at is null))
);

create index tax_id_checks_due on tax_id_checks (next_check_at) where next_check_at is not null;

create index customer_tax_details_by_tax_id on customer_tax_details (provider_id, tax_id)
  where tax_id_type = 'eu_vat';

-- A register that is down for days is asked every hour, which is not a change of what is known.
create trigger audited after insert or update or delete on tax_id_checks
  for each row execute function audit_row('tax_id', 'checked_at,next_check_at,consultation_number');
