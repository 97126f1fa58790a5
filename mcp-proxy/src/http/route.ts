import { hasOwnHost, proxyAddressOf } from '@tollgate/domain/mcp/proxy-address'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** Target of a request, determined before it is known whether the server exists. */
export type Route = {
  readonly environment: Environment
  readonly subdomain: string
  readonly target:
    | { readonly kind: 'mcp' }
    | { readonly kind: 'resource-metadata' }
    /** Forwarded to the control plane. `path` is relative to the authorization server and includes the query. */
    | { readonly kind: 'authorization'; readonly path: string }
    | { readonly kind: 'unknown' }
}

export type Templates = Readonly<Record<Environment, string>>

type Matcher = (host: string, path: string) => Omit<Route, 'environment'> | undefined

const authorizationMetadata = '/.well-known/oauth-authorization-server'
const resourceMetadata = '/.well-known/oauth-protected-resource'

/**
 * Returns a function that maps the Host header and the URL of a request to its route, or to undefined if no template matches. It
 * also refuses foreign host names whose DNS resolves to this server.
 */
export function createRouter(
  templates: Templates,
): (host: string, url: string) => Route | undefined {
  const matchers = environments.map((environment) => ({
    environment,
    match: createMatcher(templates[environment]),
  }))
  return (host, url) => {
    const at = url.indexOf('?')
    const [path, query] = at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at)]
    for (const { environment, match } of matchers) {
      const found = match(host.toLowerCase(), path)
      if (found === undefined) continue
      const { subdomain, target } = found
      return {
        environment,
        subdomain,
        target: target.kind === 'authorization' ? { ...target, path: target.path + query } : target,
      }
    }
    return undefined
  }
}

const label = '([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)'
/** A label that needs no escaping and that no template contains. */
const placeholder = 'tollgate-subdomain-place'

function createMatcher(template: string): Matcher {
  const example = new URL(proxyAddressOf(template, placeholder).proxyUrl)
  const hosts = hostsOf(example).map((host) => new RegExp(`^${patternOf(host)}$`))
  const endpoint = new RegExp(`^${patternOf(example.pathname.replace(/\/$/, ''))}$`)
  const isOwnHost = hasOwnHost(template)
  const issuerPath = isOwnHost ? '' : example.pathname.replace(/\/$/, '')
  const below = new RegExp(`^${patternOf(issuerPath)}(/.*)$`)
  return (host, path) => {
    const matched = hosts.map((pattern) => pattern.exec(host)).find((found) => found !== null)
    if (matched === undefined) return undefined
    const ofHost = matched?.[1]
    const find = (pattern: RegExp, text: string): string | undefined => {
      const found = pattern.exec(text)
      return found === null ? undefined : (ofHost ?? found[1])
    }
    const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
    const direct = find(endpoint, trimmed)
    if (direct !== undefined) return { subdomain: direct, target: { kind: 'mcp' } }
    const wellKnown = matchWellKnown(trimmed, isOwnHost, ofHost, (rest) => find(endpoint, rest))
    if (wellKnown !== undefined) return wellKnown
    const inside = below.exec(path)
    const subdomain = inside === null ? undefined : (ofHost ?? inside[1])
    if (inside === null || subdomain === undefined) return undefined
    const rest = inside[ofHost === undefined ? 2 : 1]!
    if (rest.startsWith('/oauth/')) {
      return { subdomain, target: { kind: 'authorization', path: rest.slice('/oauth'.length) } }
    }
    if (rest === authorizationMetadata) {
      return { subdomain, target: { kind: 'authorization', path: authorizationMetadata } }
    }
    return { subdomain, target: { kind: 'unknown' } }
  }
}

/** Matches the well-known documents at the root of the host. The path of the described resource follows their name. */
function matchWellKnown(
  path: string,
  isOwnHost: boolean,
  subdomainOfHost: string | undefined,
  findEndpoint: (rest: string) => string | undefined,
): Omit<Route, 'environment'> | undefined {
  for (const name of [resourceMetadata, authorizationMetadata]) {
    if (!path.startsWith(name)) continue
    const rest = path.slice(name.length)
    const atRoot = rest === '' && isOwnHost ? subdomainOfHost : undefined
    const subdomain = atRoot ?? findEndpoint(rest)
    if (subdomain === undefined) continue
    return name === resourceMetadata
      ? { subdomain, target: { kind: 'resource-metadata' } }
      : { subdomain, target: { kind: 'authorization', path: authorizationMetadata } }
  }
  return undefined
}

const loopback = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Returns the accepted Host values. A server on loopback accepts every loopback name. The default port of the scheme may be
 * present.
 */
function hostsOf({ protocol, hostname, port }: URL): string[] {
  const standard = protocol === 'https:' ? ':443' : ':80'
  const suffixes = port === '' ? ['', standard] : [`:${port}`]
  const names = loopback.includes(hostname) ? loopback : [hostname]
  return names.flatMap((name) => suffixes.map((suffix) => name + suffix))
}

function patternOf(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(placeholder, label)
}
