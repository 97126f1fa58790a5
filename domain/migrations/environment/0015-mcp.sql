-- MCP products: where their proxy stands, what is behind it, and who may call which tool.
-- Written by: control-plane, with the product's row locked.

-- How the configuration of an MCP product names a plan, whatever becomes of its reference. Archived plans give it up.
alter table plans add column key text;
create unique index plans_one_per_key on plans (provider_id, product_ref, key) where key is not null and removed_at is null;

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
  primary key (provider_id, product_ref, name),
  foreign key (provider_id, product_ref) references mcp_servers (provider_id, product_ref)
);

create index mcp_tools_by_name on mcp_tools (provider_id, name) where vanished_at is null;
