-- What a period of a purchase leaves to the next one, where its plan says so.
-- Written by: control-plane (access_restored_at) and billing-runner (all). They share purchases: whoever changes one locks
-- its row first.

alter table purchases
  -- When access was last given back after a suspension: periods that ended before leave nothing.
  add column access_restored_at timestamptz,
  -- Where the period begins whose left units are settled, and how many they are, 10^-6.
  add column carried_into timestamptz,
  add column carried_over_micros bigint check (carried_over_micros >= 0),
  -- When nothing can come any more of the period before the one that runs, and what it leaves is settled.
  add column carry_settles_at timestamptz,
  add constraint purchases_carried_check
    check ((carried_into is null) = (carried_over_micros is null));

drop trigger audited on purchases;
create trigger audited after insert or update or delete on purchases
  for each row execute function
    audit_row('reference',
      'reminded_of,next_reset_at,next_usage_bill_at,usage_closes_at,carried_into,carried_over_micros,carry_settles_at');

create index purchases_by_carry_settlement on purchases (carry_settles_at)
  where carry_settles_at is not null;

-- Those that are there are looked at once, which finds out when it is; and what limit checks go by says from now on that
-- their units roll over.
update purchases set carry_settles_at = now()
where plan_snapshot->'terms'->'rolloverUnusedUnits' = 'true'
  and status in ('active', 'trialing', 'past_due', 'suspended');

insert into publications (provider_id, kind, target)
select distinct provider_id, 'customer', customer_ref from purchases where carry_settles_at is not null;
