import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  addTokenKey,
  generateTokenKey,
  tokenKeyPlace,
} from '@tollgate/domain/customer-auth/token-keys'
import { proxyAddressOf } from '@tollgate/domain/mcp/proxy-address'
import {
  insertMcpServer,
  originAuthPlace,
  saveTools,
} from '@tollgate/domain/catalog/mcp-servers-repository'
import type { ToolAccess } from '@tollgate/domain/catalog/tool'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { insertProduct } from '@tollgate/domain/catalog/products-repository'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import { createLogger } from '@tollgate/platform/observability/logger'
import { parseAllowList } from '@tollgate/platform/outbound/allow-list'
import { GuardedHttp } from '@tollgate/platform/outbound/guarded-http'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { Environment } from '@tollgate/schemas/environment'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { importJWK, SignJWT, type JWTPayload } from 'jose'
import { readMcpProxyConfig, type McpProxyConfig } from '../src/config.ts'
import { createMcpProxy, type McpProxy } from '../src/service.ts'
import { RecordingGate } from './recording-gate.ts'

export type NewServer = {
  readonly environment?: Environment
  readonly providerId?: string
  readonly originUrl: string
  readonly tools?: Readonly<Record<string, ToolAccess>>
  readonly originKey?: string
}

export type AddedServer = {
  readonly environment: Environment
  readonly providerId: string
  readonly subdomain: string
  readonly proxyUrl: string
  readonly issuer: string
}

function openWayOut(connectionsPerOriginMax: number): GuardedHttp {
  return new GuardedHttp({
    allowed: parseAllowList('127.0.0.1'),
    ports: [443],
    isPlainHttpAllowed: true,
    connectTimeoutMs: 20_000,
    timeoutMs: 20_000,
    answerBytesMax: 1_000_000,
    connectionsPerOriginMax,
  })
}

/** A real PostgreSQL with servers, keys and tokens of customers, and proxies that use it. */
export class ProxyStack {
  readonly database: TestDatabase
  readonly gate = new RecordingGate()
  readonly port: number
  readonly #secrets = new SecretBox([{ id: 'test', bytes: randomBytes(32) }])
  readonly #serviceSecret = randomBytes(32).toString('hex')
  readonly #proxies: McpProxy[] = []
  readonly #outbound: GuardedHttp
  readonly #streamOutbound: GuardedHttp

  private constructor(database: TestDatabase, port: number, connectionsMax: number) {
    this.database = database
    this.port = port
    this.#outbound = openWayOut(connectionsMax)
    this.#streamOutbound = openWayOut(connectionsMax)
  }

  /** Starts the stack. `connectionsMax` limits the connections to one origin for calls, and separately those for streams. */
  static async start(
    settings: Record<string, string> = {},
    connectionsMax = 64,
  ): Promise<ProxyStack> {
    const database = await startTestDatabase(migrationsFolder)
    const stack = new ProxyStack(database, await freePort(), connectionsMax)
    await stack.startProxy(settings)
    return stack
  }

  async stop(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.stop()
    await this.#outbound.close()
    await this.#streamOutbound.close()
    await this.database.stop()
  }

  /** Stops the proxy and starts another one at the same port, without the state that the first one had in memory. */
  async restartProxy(settings: Record<string, string> = {}): Promise<void> {
    for (const proxy of this.#proxies.splice(0)) await proxy.stop()
    // Wait until the HTTP client of the tests has noticed that its connections are closed.
    await delay(50)
    await this.startProxy(settings)
  }

  /** Starts a proxy. With `TOLLGATE_MCP_PORT` 0 it runs next to the first one, for requests with `sendTo`. */
  async startProxy(settings: Record<string, string>): Promise<McpProxy> {
    const proxy = createMcpProxy(this.#config(settings), {
      database: this.database.database,
      secrets: this.#secrets,
      outbound: { of: () => this.#outbound },
      streamOutbound: { of: () => this.#streamOutbound },
      serviceSecret: this.#serviceSecret,
      logger: createLogger('mcp-proxy', 'silent'),
      gate: this.gate,
    })
    await proxy.start()
    this.#proxies.push(proxy)
    return proxy
  }

  #config(settings: Record<string, string>): McpProxyConfig {
    return readMcpProxyConfig({
      TOLLGATE_DATABASE_URL: this.database.url,
      TOLLGATE_MCP_PORT: String(this.port),
      TOLLGATE_MCP_SANDBOX_URL: this.templateOf('sandbox'),
      TOLLGATE_MCP_LIVE_URL: this.templateOf('live'),
      TOLLGATE_MCP_STOP_MS: '100',
      ...settings,
    })
  }

  templateOf(environment: Environment): string {
    const below = environment === 'sandbox' ? '/sandbox' : ''
    return `http://127.0.0.1:${this.port}${below}/mcp/{subdomain}`
  }

  /** Adds a product with its MCP server, and a signing key if the provider has none. */
  async addServer(added: NewServer): Promise<AddedServer> {
    const { environment = 'sandbox', providerId = 'prov', originUrl, originKey } = added
    const { tools = { search: 'every-plan', fetch: 'public' } } = added
    const sql = this.database.database.in(environment)
    const now = new Date()
    const productRef = generateReference('product')
    const subdomain = `s-${randomBytes(6).toString('hex')}`
    await insertProduct(sql, providerId, {
      ...{ reference: productRef, name: 'Tools', description: null, imageUrl: null },
      ...{ productType: null, status: 'active', isMcpPay: true, config: null, metadata: {} },
      ...{ taxBehavior: null, createdAt: now, updatedAt: now },
    })
    await insertMcpServer(sql, providerId, {
      ...{ productRef, reference: generateReference('mcpServer'), subdomain, originUrl },
      auth: originKey === undefined ? undefined : this.#sealedAuth(providerId, originKey),
      ...{ isAutoMapped: true, createdAt: now, updatedAt: now },
    })
    const rows = Object.entries(tools).map(([name, access]) => ({
      ...{ name, access, description: null, planRefs: [] },
      ...{ onlyListedPlans: false, cancelledCalls: null, hasVanished: false },
    }))
    await saveTools(sql, providerId, productRef, rows, now)
    const unlessActiveSince = new Date(0)
    const key = await generateTokenKey(this.#secrets, providerId, now)
    await sql.begin((each) => addTokenKey(each, key, { unlessActiveSince, now }))
    const address = proxyAddressOf(this.templateOf(environment), subdomain)
    return { environment, providerId, subdomain, ...address }
  }

  /** Configures the access of a tool, as the control plane does. */
  async mapTool({ environment, subdomain }: AddedServer, name: string, access: ToolAccess) {
    const sql = this.database.database.in(environment)
    await sql`
      update mcp_tools set access = ${access} where name = ${name} and product_ref =
        (select product_ref from mcp_servers where subdomain = ${subdomain})`
  }

  #sealedAuth(providerId: string, key: string) {
    return {
      header: 'X-Api-Key',
      sealedValue: this.#secrets.seal(key, originAuthPlace(providerId)),
    }
  }

  /** Returns a token as the control plane's authorization server issues it. `claims` and `header` replace parts of it. */
  async token(
    server: AddedServer,
    claims: JWTPayload = {},
    header: { typ?: string; alg?: string } = {},
  ): Promise<string> {
    const { kid, key } = await this.#signingKey(server)
    const sub = claims.sub ?? 'cus_ada'
    const standard = {
      ...{ iss: server.issuer, aud: server.proxyUrl, sub, customerRef: sub, jti: randomUUID() },
      ...{ client_id: 'client', scope: 'openid', exp: Math.floor(Date.now() / 1000) + 600 },
    }
    const signed = new SignJWT({ ...standard, ...claims })
    return signed.setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header }).sign(key)
  }

  async #signingKey({ environment, providerId }: AddedServer) {
    const [row] = await this.database.database.in(environment)<
      { kid: string; private_jwk: string }[]
    >`select kid, private_jwk from oauth_signing_keys where provider_id = ${providerId}`
    const jwk = JSON.parse(
      this.#secrets.open(row!.private_jwk, tokenKeyPlace(providerId)),
    ) as JsonObject
    return { kid: row!.kid, key: await importJWK(jwk, 'ES256') }
  }
}
