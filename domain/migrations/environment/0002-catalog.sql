-- Products and plans of a provider, its meters, and its MCP servers.
-- Written by: control-plane.
--
-- A product or plan that was deleted keeps its row with `removed_at`, because purchases, stored events and usage records still
-- refer to it. Queries ignore removed rows.

create table products (
  provider_id text not null,
  reference text not null unique,
  name text not null,
  description text,
  image_url text,
  product_type text,
  status text not null check (status in ('active', 'inactive', 'suspended')),
  is_mcp_pay boolean not null default false,
  config jsonb,
  metadata jsonb not null default '{}',
  tax_behavior text check (tax_behavior in ('auto', 'inclusive', 'exclusive')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  primary key (provider_id, reference)
);

create index products_newest on products (provider_id, created_at desc, reference) where removed_at is null;

create table plans (
  provider_id text not null,
  reference text not null unique,
  product_ref text not null,
  name text not null,
  description text,
  type text not null check (type in ('recurring', 'usage-based', 'hybrid', 'one-time')),
  status text not null check (status in ('active', 'inactive', 'archived')),
  is_default boolean not null default false,
  hidden boolean not null default false,
  -- Minor units of `currency`, of the default pricing option if the plan has options.
  price bigint not null check (price >= 0),
  base_price bigint check (base_price >= 0),
  setup_fee bigint check (setup_fee >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  meter_ref text,
  -- All other terms of the plan: cycle, model, units, options, tiers, features. Read as a whole, never queried.
  terms jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  -- The name of the plan in the configuration of an MCP product. An archived plan has none.
  key text,
  primary key (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference)
);

create index plans_of_product on plans (provider_id, product_ref, created_at) where removed_at is null;

create unique index plans_one_default on plans (provider_id, product_ref) where is_default and removed_at is null;

create unique index plans_one_per_key on plans (provider_id, product_ref, key) where key is not null and removed_at is null;

create table meters (
  provider_id text not null,
  reference text not null unique,
  name text not null,
  display_name text not null,
  description text,
  aggregation text not null check (aggregation in ('count', 'sum')),
  unit text not null,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  unique (provider_id, name),
  -- The meter on which every plan limit is counted.
  check (name <> 'requests' or status = 'active')
);

-- MCP products: the address of the proxy, the MCP server behind it, and the permissions of its tools. Every change locks the
-- row of the product first. Also read by: mcp-proxy.
create table mcp_servers (
  provider_id text not null,
  product_ref text not null,
  reference text not null unique,
  -- Part of a public address. It is never assigned again, even after the product is deleted.
  subdomain text not null unique check (subdomain ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  origin_url text not null,
  -- The header that the origin expects, and its encrypted value.
  auth_header text,
  auth_key text,
  -- True if no plans were configured for tools: every plan may call all tools of the origin.
  is_auto_mapped boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The last change of the tools of the MCP server: its time, and the added and removed tools. Null: never.
  tools_changed_at timestamptz,
  tools_added text[] not null default '{}',
  tools_removed text[] not null default '{}',
  primary key (provider_id, product_ref),
  foreign key (provider_id, product_ref) references products (provider_id, reference),
  check ((auth_header is null) = (auth_key is null))
);

create table mcp_tools (
  provider_id text not null,
  product_ref text not null,
  name text not null,
  description text,
  -- 'public': all callers, not counted; 'every-plan': customers with any plan of the product; 'plans': customers with a listed
  -- plan or the default plan.
  access text not null check (access in ('public', 'every-plan', 'plans')),
  plan_refs text[] not null default '{}',
  -- The origin no longer has this tool. Its plans are kept in case it returns.
  vanished_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Whether the default plan does not allow the tool unless it is listed.
  only_listed_plans boolean not null default false,
  -- Whether a call that its client cancelled is billed: 'never', 'answered' if the whole response of the MCP server had
  -- arrived, 'accepted' if the response had begun, or 'always'. Null: the setting of the proxy decides.
  cancelled_calls text check (cancelled_calls in ('never', 'answered', 'accepted', 'always')),
  primary key (provider_id, product_ref, name),
  foreign key (provider_id, product_ref) references mcp_servers (provider_id, product_ref)
);

create index mcp_tools_by_name on mcp_tools (provider_id, name) where vanished_at is null;

create trigger audited after insert or update or delete on products
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on plans
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on meters
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on mcp_servers
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on mcp_tools
  for each row execute function audit_row('product_ref,name');
