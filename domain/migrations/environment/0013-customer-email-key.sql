-- Row level security keeps conditions with functions that are not known to be leakproof, such as lower(), from being looked up
-- in an index: a customer would be found by reading all customers of the provider. Equality is leakproof.

alter table customers add column email_key text not null generated always as (lower(email)) stored;

drop index customers_one_per_email;
create unique index customers_one_per_email on customers (provider_id, email_key);
