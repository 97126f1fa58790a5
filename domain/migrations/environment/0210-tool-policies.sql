-- What a provider decides for each tool of an MCP server apart from its plans.
-- Written by: control-plane, with the product's row locked. Read by: mcp-proxy.

alter table mcp_tools
  -- The default plan does not open the tool, unless it is among those listed.
  add column only_listed_plans boolean not null default false,
  -- Whether a call is billed that its client cancelled: 'never', 'answered' once the whole answer of the MCP server was there,
  -- 'accepted' once it had begun, 'always'. Null: as the proxy is configured.
  add column cancelled_calls text check (cancelled_calls in ('never', 'answered', 'accepted', 'always'));

alter table mcp_servers
  -- When the MCP server was last found to have other tools than those known, and which came and went. Null: never.
  add column tools_changed_at timestamptz,
  add column tools_added text[] not null default '{}',
  add column tools_removed text[] not null default '{}';
