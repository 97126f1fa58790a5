-- What each product has earned, and by how many payments. A payment adds a movement, and a job folds movements
-- into one row for each product, so that payments of one product never wait for each other. What is read is both together.
-- `balance` and `total_transactions` of products stay for processes of the version before; nothing writes them.
-- Written by: the triggers below, as whoever changes a payment; `product_tallies` by the control plane's payment job.

-- Whoever changes a refund or a dispute has locked its payment before, so nobody is in the middle of one from here on. The
-- triggers lock the tables one after the other, and would wait for such a transaction while it waits for them.
lock table payment_intents in exclusive mode;

create table product_movements (
  id bigint generated always as identity primary key,
  provider_id text not null,
  product_ref text not null,
  -- US cents: below nothing for what went back.
  amount bigint not null,
  -- Payments that succeeded with it.
  payments integer not null
);

create index product_movements_of_product on product_movements (provider_id, product_ref);

create table product_tallies (
  provider_id text not null,
  product_ref text not null,
  balance bigint not null,
  payments bigint not null,
  primary key (provider_id, product_ref)
);

-- What is left of a payment in US cents when so much of the original amount went back. Rounded once, half away from zero,
-- so that the parts that go back add up to the payment.
create function payment_left(amount bigint, original bigint, gone numeric) returns bigint
language sql immutable as $$
  select (amount - div(2 * amount::numeric * gone + original, 2 * original::numeric))::bigint
$$;

-- What went back of a payment, in minor units of its currency: paid back, or taken by the bank and not returned.
create function payment_gone(provider text, intent text) returns numeric language sql stable as $$
  select coalesce((
      select sum(amount) from payment_refunds
      where provider_id = provider and intent_ref = intent and status = 'succeeded'), 0)
    + coalesce((
      select sum(amount) from payment_disputes
      where provider_id = provider and intent_ref = intent
        and status in ('needs_response', 'under_review', 'lost')), 0)
$$;

create function move_paid_product() returns trigger language plpgsql as $$
begin
  insert into product_movements (provider_id, product_ref, amount, payments)
  values (new.provider_id, new.product_ref, payment_left(
    new.amount, new.original_amount, payment_gone(new.provider_id, new.reference)), 1);
  return null;
end $$;

-- The arguments are the statuses in which the row's amount is gone. Whoever changes such a row has locked the payment.
create function move_product_back() returns trigger language plpgsql as $$
declare
  paid record;
  gone numeric;
  was_gone numeric;
begin
  select product_ref, amount, original_amount into paid from payment_intents
  where provider_id = new.provider_id and reference = new.intent_ref
    and status = 'succeeded' and failure_reason is null and product_ref is not null;
  if not found then
    return null;
  end if;
  gone := payment_gone(new.provider_id, new.intent_ref);
  was_gone := gone - case when new.status = any (tg_argv) then new.amount else 0 end;
  if tg_op = 'UPDATE' and old.status = any (tg_argv) then
    was_gone := was_gone + old.amount;
  end if;
  insert into product_movements (provider_id, product_ref, amount, payments)
  select new.provider_id, paid.product_ref, change, 0
  from (
    select payment_left(paid.amount, paid.original_amount, gone)
      - payment_left(paid.amount, paid.original_amount, was_gone) as change
  ) as moved
  where change <> 0;
  return null;
end $$;

-- What pays for nothing that could be given goes back, and is no transaction.
create trigger moves_product after update of status on payment_intents
  for each row when (
    new.status = 'succeeded' and old.status <> 'succeeded'
    and new.failure_reason is null and new.product_ref is not null
  ) execute function move_paid_product();
create trigger moves_product after insert or update of status on payment_refunds
  for each row execute function move_product_back('succeeded');
create trigger moves_product after insert or update of status on payment_disputes
  for each row execute function move_product_back('needs_response', 'under_review', 'lost');

-- Payments of before. The triggers keep others from being made until this has committed.
insert into product_tallies (provider_id, product_ref, balance, payments)
select provider_id, product_ref,
  sum(payment_left(amount, original_amount, payment_gone(provider_id, reference))), count(*)
from payment_intents
where status = 'succeeded' and failure_reason is null and product_ref is not null
group by provider_id, product_ref;
