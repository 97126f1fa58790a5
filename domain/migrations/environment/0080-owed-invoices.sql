-- What a customer owes is looked up before a purchase starts or changes.
-- Read by: control-plane.

create index invoices_owed on invoices (provider_id, customer_ref)
  where status in ('open', 'uncollectible');
