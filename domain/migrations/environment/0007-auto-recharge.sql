-- The card that a customer is charged on, and when credits are bought on it without being asked.
-- Written by: control-plane (settings), and whoever charges.

-- As the payment processor told of it after the last successful payment; never the card itself.
create table customer_cards (
  provider_id text not null,
  customer_ref text not null,
  brand text not null,
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  exp_month int not null check (exp_month between 1 and 12),
  exp_year int not null,
  -- Whether it may be charged again without its holder, or is only on file.
  reusable boolean not null,
  payment_method_id text,
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create table auto_recharges (
  provider_id text not null,
  customer_ref text not null,
  status text not null check (status in ('active', 'disabled', 'failed', 'pending_setup')),
  -- Minor units of `threshold_currency`: what the balance was shown in when this was asked for.
  threshold_minor bigint not null check (threshold_minor >= 0),
  threshold_currency text not null check (threshold_currency ~ '^[A-Z]{3}$'),
  -- Minor units of `topup_currency`, like what was spent and may be spent in a month.
  topup_minor bigint not null check (topup_minor >= 0),
  topup_currency text not null check (topup_currency ~ '^[A-Z]{3}$'),
  monthly_spend_minor bigint not null default 0 check (monthly_spend_minor >= 0),
  monthly_spend_max_minor bigint check (monthly_spend_max_minor >= 0),
  -- `YYYY-MM`, UTC, that monthly_spend_minor was spent in.
  monthly_spend_period text check (monthly_spend_period ~ '^[0-9]{4}-[0-9]{2}$'),
  failure_count int not null default 0,
  funding_source_type text not null check (funding_source_type in ('saved_card', 'tokenized_card')),
  payment_method_id text,
  in_flight_payment_intent_id text,
  last_charge_at timestamptz,
  lock_acquired_at timestamptz,
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);
