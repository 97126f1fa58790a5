-- What is left of a customer who was deleted: its reference, which usage, purchases and postings go on naming.

alter table customers drop constraint customers_status_check;
alter table customers add constraint customers_status_check check (status in ('active', 'deleted'));
alter table customers add constraint customers_erased check (
  status <> 'deleted' or (email = '' and name is null and telephone is null and external_ref is null and metadata = '{}')
);

drop index customers_one_per_email;
create unique index customers_one_per_email on customers (provider_id, email_key) where status = 'active';

-- An external reference of a deleted customer may become somebody else's. What was counted before stays with the earlier
-- purchases: counters are kept apart by purchase and period, and those of a new purchase begin with it.
alter table customer_references add column released_at timestamptz;
alter table customer_references drop constraint customer_references_pkey;
create unique index customer_references_one_holder on customer_references (provider_id, reference) where released_at is null;
create index customer_references_released on customer_references (provider_id, reference) where released_at is not null;
alter table customer_references add primary key (provider_id, customer_ref, reference);
drop index customer_references_of_customer;
