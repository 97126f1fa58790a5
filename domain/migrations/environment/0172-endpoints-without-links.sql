-- Whether an endpoint is sent the links of customers' pages: whoever opens one acts as the customer.
-- Written by: control-plane.

alter table webhook_endpoints
  -- False: the address was set by a caller without the scope `manage`. Of endpoints from before it is not known who set it.
  add column sends_links boolean not null default true;
