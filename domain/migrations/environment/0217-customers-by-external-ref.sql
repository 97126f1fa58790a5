-- Customers by the external reference that they have today, in any case of letters: a sign-in looks for an address there.
-- Written by: control-plane.

create index customers_by_external_ref on customers (provider_id, lower(external_ref))
  where status = 'active' and external_ref is not null;
