-- What a provider counts a dollar as, for showing credits and for selling them. Without a row a built-in rate is used.
-- Written by: control-plane.

create table exchange_rates (
  provider_id text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$' and currency <> 'USD'),
  -- Units of the currency that one US dollar buys.
  units_per_dollar numeric(20, 10) not null check (units_per_dollar > 0),
  updated_at timestamptz not null,
  primary key (provider_id, currency)
);
