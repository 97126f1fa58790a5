import { parseUrl } from '@tollgate/schemas/parse-url'
import type Provider from 'oidc-provider'
import {
  findAuthServer,
  findAuthServerOfClient,
  findAuthServerOfProduct,
  type AuthServer,
} from '@tollgate/domain/customer-auth/auth-servers'
import { proxyAddressOf, type ProxyAddress } from '@tollgate/domain/mcp/proxy-address'
import { Recent } from '@tollgate/platform/memory/recent'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { CustomerAuthParts as AppParts } from './customer-auth-parts.ts'
import type { CustomerAuthConfig } from './customer-auth-settings.ts'
import type { ProviderParts } from './create-provider.ts'
import type { RecordStore } from './record-adapter.ts'
import { KeyRing, type SigningKeys } from './signing-keys.ts'

/** The authorization server of one MCP server, in one environment. */
export type Issuer = {
  readonly server: AuthServer
  readonly address: ProxyAddress
  readonly store: RecordStore
  readonly keys: SigningKeys
  readonly provider: Provider
}

export type IssuerParts = Pick<
  AppParts,
  | 'database'
  | 'publisher'
  | 'secrets'
  | 'clock'
  | 'outbound'
  | 'logger'
  | 'mcpProxyUrls'
  | 'hostedUrl'
> & {
  readonly config: CustomerAuthConfig
  readonly problemPage: ProviderParts['problemPage']
}

/** An instance takes about 50 KB and 1 ms to create. */
const instancesMax = 500

const dayMs = 86_400_000

/** Path of the page where customers sign in and allow a client. */
export const authorizePath = '/customer/authorize'

/** Creates the authorization server of an MCP server at its first use, and again after its keys change. */
export class Issuers {
  readonly #parts: IssuerParts
  readonly #keys: KeyRing
  /** Instances in order of use; the most recently used one is last. */
  readonly #instances = new Recent<Issuer>(instancesMax)

  constructor(parts: IssuerParts) {
    this.#parts = parts
    this.#keys = new KeyRing(parts, parts.config.signingKeyDays * dayMs)
  }

  async find(environment: Environment, subdomain: string): Promise<Issuer | undefined> {
    if (!/^[a-z0-9-]{1,63}$/.test(subdomain)) return undefined
    const server = await findAuthServer(this.#database(), environment, subdomain)
    return server && this.of(server)
  }

  async findOfProduct(productRef: string): Promise<Issuer | undefined> {
    const server = await findAuthServerOfProduct(this.#database(), productRef)
    return server && this.of(server)
  }

  async findOfClient(clientId: string): Promise<Issuer | undefined> {
    const server = await findAuthServerOfClient(this.#database(), clientId)
    return server && this.of(server)
  }

  /** Finds the issuer by the address of its MCP server, which clients send as `resource` and tokens carry as audience. */
  async findOfResource(resource: string): Promise<Issuer | undefined> {
    for (const environment of environments) {
      const subdomain = subdomainOf(this.#parts.mcpProxyUrls[environment], resource)
      const found = subdomain === undefined ? undefined : await this.find(environment, subdomain)
      if (found !== undefined) return found
    }
    return undefined
  }

  async of(server: AuthServer): Promise<Issuer> {
    const { environment, providerId, productRef, subdomain } = server
    const keys = await this.#keys.of(environment, providerId)
    const name = `${environment} ${subdomain} ${providerId} ${productRef}`
    const known = this.#instances.get(name)
    const issuer = known?.keys === keys ? known : await this.#create(server, keys)
    this.#instances.set(name, issuer)
    return issuer
  }

  #database() {
    return this.#parts.publisher.database
  }

  async #create(server: AuthServer, keys: SigningKeys): Promise<Issuer> {
    // Import the library only here: it loads slowly, and installations without MCP servers never need it.
    const { createProvider } = await import('./create-provider.ts')
    const { environment, providerId, productRef, subdomain } = server
    const { config, secrets, clock, outbound, logger, hostedUrl } = this.#parts
    const address = proxyAddressOf(this.#parts.mcpProxyUrls[environment], subdomain)
    const store: RecordStore = {
      rows: this.#parts.database.of(providerId).in(environment),
      place: { providerId, productRef, issuer: address.issuer },
      secrets,
      now: () => new Date(clock.now()),
      clientMs: config.unusedClientDays * dayMs,
    }
    const provider = createProvider({
      store,
      address,
      keys,
      logger,
      policy: redirectPolicyOf(config),
      fetch: outbound.of(environment).fetch,
      lifetimes: {
        accessTokenSeconds: config.accessTokenMinutes * 60,
        refreshTokenSeconds: config.refreshTokenDays * 86_400,
        grantSeconds: config.grantDays * 86_400,
      },
      signInUrl: (uid) => `${hostedUrl}${authorizePath}/${environment}.${subdomain}.${uid}`,
      problemPage: this.#parts.problemPage,
    })
    return { server, address, store, keys, provider }
  }
}

export function redirectPolicyOf(config: CustomerAuthConfig) {
  return {
    hosts: config.redirectHosts,
    schemes: config.redirectSchemes,
    isAnyHttpsAllowed: config.anyHttpsRedirect === 'on',
  }
}

/**
 * Returns the subdomain of the MCP server whose address, or one of its aliases, is `resource`. Returns undefined if the template
 * yields no such address.
 */
export function subdomainOf(template: string, resource: string): string | undefined {
  const href = parseUrl(resource)?.href
  const [before = '', after = ''] = template.split('{subdomain}')
  if (href?.startsWith(before) !== true) return undefined
  const [subdomain = ''] = href.slice(before.length).split(/[./?#:]/, 1)
  if (!/^[a-z0-9-]{1,63}$/.test(subdomain)) return undefined
  return resourceOf(proxyAddressOf(`${before}{subdomain}${after}`, subdomain), resource) ===
    undefined
    ? undefined
    : subdomain
}

/**
 * Returns the canonical name of the resource if `resource` is the address of the MCP server or one of its aliases. Otherwise
 * returns undefined.
 */
export function resourceOf(address: ProxyAddress, resource: string): string | undefined {
  const href = parseUrl(resource)?.href
  const names = [address.proxyUrl, ...address.resourceAliases]
  return names.some((name) => new URL(name).href === href) ? address.proxyUrl : undefined
}
