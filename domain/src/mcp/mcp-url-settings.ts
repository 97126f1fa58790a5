import type { Setting } from '@tollgate/platform/config/settings'

function mcpUrlSetting(variable: string, description: string, template: string): Setting<string> {
  const parse = (text: string): string => {
    if (text.includes('{subdomain}') && URL.canParse(text.replace('{subdomain}', 'a'))) return text
    throw new Error('must be a URL with {subdomain} in it')
  }
  return { variable, description, defaultText: template, parse }
}

/** URL templates for `proxyAddressOf`. The control plane shows the addresses, and the proxy serves them. */
export const mcpUrlSettings = {
  mcpLiveUrl: mcpUrlSetting(
    'TOLLGATE_MCP_LIVE_URL',
    'Where the proxies of live MCP products are reached; `{subdomain}` stands for that of the product',
    'https://{subdomain}.mcp.localhost/mcp',
  ),
  mcpSandboxUrl: mcpUrlSetting(
    'TOLLGATE_MCP_SANDBOX_URL',
    'The same of sandbox products, under another domain: both environments may use the same subdomain',
    'https://{subdomain}.mcp.sandbox.localhost/mcp',
  ),
}
