-- What the console's Home shows, with indexes that make it fast at any number of customers.
-- Written by: PostgreSQL, which computes the generated columns.

-- The price of a period of a plan in a currency, in minor units and without a ramp: `periodPrice` of `domain/src/pricing/plan-prices.ts`.
-- Null without a plan, or if the plan has no price in the currency.
create function plan_period_price(plan jsonb, currency text) returns bigint
language sql immutable parallel safe as $$
  select case plan ->> 'type'
    when 'usage-based' then 0
    when 'hybrid' then coalesce(base, price)
    else price
  end
  from (
    select (plan ->> 'priceMinor')::bigint as price, (plan ->> 'basePriceMinor')::bigint as base
    where plan ->> 'currency' = currency
    union all
    select (option ->> 'price')::bigint, (option ->> 'basePrice')::bigint
    from jsonb_array_elements(coalesce(plan -> 'terms' -> 'pricingOptions', '[]')) as option
    where option ->> 'currency' = currency and plan ->> 'currency' <> currency
  ) as prices
  limit 1
$$;

alter table purchases
  add column period_price bigint generated always as (plan_period_price(plan_snapshot, currency)) stored,
  -- The days of a custom billing cycle. Null for other cycles.
  add column period_days integer
    generated always as ((plan_snapshot -> 'terms' ->> 'billingCycleDays')::integer) stored,
  add column has_ramp boolean
    generated always as (coalesce(jsonb_array_length(plan_snapshot -> 'terms' -> 'ramp') > 0, false)) stored;

-- The purchases that are expected to be charged again: monthly recurring revenue.
create index purchases_recurring on purchases (provider_id, currency, billing_cycle, period_days)
  include (period_price)
  where status in ('active', 'past_due') and auto_renew and is_recurring and not is_pack;
create index purchases_ramped on purchases (provider_id)
  where status in ('active', 'past_due') and auto_renew and is_recurring and not is_pack and has_ramp;

create index payment_intents_received on payment_intents (provider_id, succeeded_at)
  include (currency, original_amount) where succeeded_at is not null;
create index payment_refunds_of_provider on payment_refunds (provider_id, created_at);
create index payment_disputes_of_provider on payment_disputes (provider_id, created_at);
create index balance_payouts_of_provider on balance_payouts (provider_id, created_at);
create index invoice_decisions_paid_outside on invoice_decisions (provider_id, created_at)
  where kind = 'paid_outside';
create index credit_grants_bought on credit_grants (provider_id, created_at)
  include (granted_micros) where paid is not null;
create index credit_take_backs_of_provider on credit_take_backs (provider_id, created_at);

-- Open invoices whose last charge failed.
create index invoices_failing on invoices (provider_id, updated_at desc)
  where status = 'open' and failed_charges > 0;

create index alert_firings_newest on alert_firings (provider_id, fired_at desc);

-- Generated columns follow others, which are audited.
drop trigger audited on purchases;
create trigger audited after insert or update or delete on purchases
  for each row execute function
    audit_row('reference',
      'reminded_of,next_reset_at,next_usage_bill_at,usage_closes_at,carried_into,carried_over_micros,carry_settles_at,'
      'usage_billed_to,unbilled_raised_from,unbilled_raised_micros,period_price,period_days,has_ramp');
