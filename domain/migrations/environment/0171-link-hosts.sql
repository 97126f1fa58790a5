-- Which hosts the links of a provider may lead to.
-- Written by: control-plane.

alter table merchants
  -- Hosts, or `*.` and the domain that they are below. Null: any host.
  add column allowed_link_hosts text[] check (cardinality(allowed_link_hosts) > 0);
