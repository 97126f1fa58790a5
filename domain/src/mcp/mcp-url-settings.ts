import { parseUrl } from '@tollgate/schemas/parse-url'
import type { Setting } from '@tollgate/platform/config/settings'

function mcpUrlSetting(variable: string, description: string, template: string): Setting<string> {
  const parse = (text: string): string => {
    if (text.includes('{subdomain}') && parseUrl(text.replace('{subdomain}', 'a')) !== undefined)
      return text
    throw new Error('must be a URL that contains {subdomain}')
  }
  return { variable, description, defaultText: template, parse }
}

/** URL templates for `proxyAddressOf`. The control plane shows the addresses, and the proxy serves them. */
export const mcpUrlSettings = {
  mcpLiveUrl: mcpUrlSetting(
    'TOLLGATE_MCP_LIVE_URL',
    'URL template of the proxies of live MCP products. `{subdomain}` is replaced by the subdomain of the product',
    'https://{subdomain}.mcp.localhost/mcp',
  ),
  mcpSandboxUrl: mcpUrlSetting(
    'TOLLGATE_MCP_SANDBOX_URL',
    'URL template of the proxies of sandbox MCP products. Use another domain than for live products, because both environments may use the same subdomain',
    'https://{subdomain}.mcp.sandbox.localhost/mcp',
  ),
}
