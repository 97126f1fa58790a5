/*
 * Addresses of one MCP server's proxy, from the installation's template: `https://{subdomain}.mcp.example.com/mcp` or,
 * without wildcard DNS, `https://tools.example.com/mcp/{subdomain}`.
 */

const subdomainPlace = '{subdomain}'

export type ProxyAddress = {
  /** URL to which clients send MCP messages, and the only audience of its access tokens. */
  readonly proxyUrl: string
  /**
   * Issuer URL of the server's authorization server: the origin of `proxyUrl` if each server has its own host, or
   * `proxyUrl` itself if the servers share a host. The endpoints are below it.
   */
  readonly issuer: string
  /**
   * Other values of `resource` that mean `proxyUrl`. If the servers share a host, its origin is not among them, because
   * it identifies no server.
   */
  readonly resourceAliases: readonly string[]
}

export function proxyAddressOf(template: string, subdomain: string): ProxyAddress {
  const proxyUrl = template.replace(subdomainPlace, subdomain)
  const { origin } = new URL(proxyUrl)
  return hasOwnHost(template)
    ? { proxyUrl, issuer: origin, resourceAliases: [`${proxyUrl}/`, origin, `${origin}/`] }
    : { proxyUrl, issuer: proxyUrl, resourceAliases: [`${proxyUrl}/`] }
}

/** Returns whether the subdomain is part of the host. Otherwise it is part of the path. */
export function hasOwnHost(template: string): boolean {
  return (
    new URL(template.replace(subdomainPlace, 'x0')).host !==
    new URL(template.replace(subdomainPlace, 'x1')).host
  )
}
