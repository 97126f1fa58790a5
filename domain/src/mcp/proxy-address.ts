/* The addresses of one MCP server's proxy, from the installation's template: `https://{subdomain}.mcp.example.com/mcp` or, without wildcard DNS, `https://tools.example.com/mcp/{subdomain}`. */

const subdomainPlace = '{subdomain}'

export type ProxyAddress = {
  /** Where clients send MCP messages, and the one audience of its access tokens. */
  readonly proxyUrl: string
  /**
   * Of its authorization server. The origin of `proxyUrl` where each server has a host of its own; `proxyUrl` itself where the
   * servers share a host. The endpoints lie below it.
   */
  readonly issuer: string
  /** Other values of `resource` that mean `proxyUrl`. Where servers share a host, their origin names none of them. */
  readonly resourceAliases: readonly string[]
}

export function proxyAddressOf(template: string, subdomain: string): ProxyAddress {
  const proxyUrl = template.replace(subdomainPlace, subdomain)
  const { origin } = new URL(proxyUrl)
  return hasHostOfItsOwn(template)
    ? { proxyUrl, issuer: origin, resourceAliases: [`${proxyUrl}/`, origin, `${origin}/`] }
    : { proxyUrl, issuer: proxyUrl, resourceAliases: [`${proxyUrl}/`] }
}

/** Whether the subdomain is part of the host, and not of the path. */
export function hasHostOfItsOwn(template: string): boolean {
  return (
    new URL(template.replace(subdomainPlace, 'x0')).host !==
    new URL(template.replace(subdomainPlace, 'x1')).host
  )
}
