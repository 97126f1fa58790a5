-- What a provider sells, what it counts, and the MCP servers that it sells.
-- Written by: control-plane.
--
-- A product or plan that was deleted keeps its row with `removed_at`, because purchases, stored events and usage records go on
-- naming its reference. No look-up finds a removed row.

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
  -- Minor units of `currency`; those of the default pricing option where there are options.
  price bigint not null check (price >= 0),
  base_price bigint check (base_price >= 0),
  setup_fee bigint check (setup_fee >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  meter_ref text,
  -- Everything else the plan says: cycle, model, units, options, tiers, features. Read as a whole, never queried.
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
  -- Every plan limit is counted on it.
  check (name <> 'requests' or status = 'active')
);

-- MCP products: the address of the proxy, the MCP server behind it, and who may call which tool. Whoever changes one locks the
-- row of the product first. Also read by: mcp-proxy.
create table mcp_servers (
  provider_id text not null,
  product_ref text not null,
  reference text not null unique,
  -- Part of a public address: nobody else ever gets it, not even when the product is gone.
  subdomain text not null unique check (subdomain ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  origin_url text not null,
  -- What the origin wants to see, and its value, which is sealed.
  auth_header text,
  auth_key text,
  -- Nobody has said which plans may call which tools: what the origin has is open to every plan.
  is_auto_mapped boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the MCP server was last found to have other tools than those known, and which were added and removed. Null: never.
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
  -- 'public': anybody, uncounted; 'every-plan': whoever holds a plan of the product; 'plans': holders of those listed
  -- and of the default plan.
  access text not null check (access in ('public', 'every-plan', 'plans')),
  plan_refs text[] not null default '{}',
  -- The origin had it once. What it was mapped to waits for its return.
  vanished_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Whether the default plan does not open the tool, unless it is among those listed.
  only_listed_plans boolean not null default false,
  -- Whether a call is billed that its client cancelled: 'never', 'answered' once the whole answer of the MCP server was there,
  -- 'accepted' once it had begun, 'always'. Null: as the proxy is configured.
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
