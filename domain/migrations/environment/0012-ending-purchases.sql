-- Finds the purchases whose end has passed and that do not say so yet.

create index purchases_ending on purchases (end_date)
  where end_date is not null and status in ('active', 'trialing', 'past_due');
