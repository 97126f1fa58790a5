import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMcpProxyConfig } from '@tollgate/mcp-proxy/config'
import { createMcpProxy, type McpProxy } from '@tollgate/mcp-proxy/service'
import type { Clock } from '@tollgate/platform/clock/clock'
import { readSettings } from '@tollgate/platform/config/settings'
import { createLogger } from '@tollgate/platform/observability/logger'
import {
  openPaymentProcessors,
  type PaymentProcessors,
} from '@tollgate/platform/payments/open-payment-processors'
import { stripeSettings } from '@tollgate/platform/payments/stripe/stripe-settings'
import { SecretBox } from '@tollgate/platform/secrets/secret-box'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { Environment } from '@tollgate/schemas/environment'
import { renewToken } from '../../../../mcp-proxy/test/renew-token.ts'
import { startSimulator, type Simulator } from '@tollgate/stripe-simulator/simulator'
import { startStack, type Stack } from '../../stack.ts'
import { ToolOrigin } from './tool-origin.ts'

/** Milliseconds for which the proxy caches servers, tokens and limits. */
const freshMs = 20

export const proxyCount = 2

/** All services in this process, 2 proxies that share a data folder, and a clock that can be moved forward. */
export class World {
  readonly stack: Stack
  readonly simulator: Simulator
  readonly origin: ToolOrigin
  readonly #secrets: SecretBox
  readonly #processors: PaymentProcessors
  readonly #relay: IngestRelay
  readonly #clock: MovableClock
  readonly #settings: Readonly<Record<string, string>>
  readonly #dataDir: string
  readonly #ports: readonly number[]
  readonly #proxies: (McpProxy | undefined)[] = []
  /** Number of starts of each proxy. */
  readonly #lives = Array<number>(proxyCount).fill(0)
  /** Number of times that the proxies were cut off from ingest. */
  cutOffs = 0
  #restarting: Promise<void> = Promise.resolve()
  readonly #undisturbed = new Set<Promise<void>>()

  private constructor(parts: {
    stack: Stack
    simulator: Simulator
    origin: ToolOrigin
    processors: PaymentProcessors
    secrets: SecretBox
    relay: IngestRelay
    clock: MovableClock
    settings: Readonly<Record<string, string>>
    dataDir: string
    ports: readonly number[]
  }) {
    this.stack = parts.stack
    this.simulator = parts.simulator
    this.origin = parts.origin
    this.#processors = parts.processors
    this.#secrets = parts.secrets
    this.#relay = parts.relay
    this.#clock = parts.clock
    this.#settings = parts.settings
    this.#dataDir = parts.dataDir
    this.#ports = parts.ports
  }

  static async start(): Promise<World> {
    const clock = new MovableClock()
    const [port, ...ports] = await freePorts(1 + proxyCount)
    const key = randomBytes(32)
    const webhookSecret = 'whsec_sequences'
    const url = `http://127.0.0.1:${port}/webhooks/stripe/sandbox`
    const webhooks = { test: { url, secret: webhookSecret } }
    const simulator = await startSimulator({ clock, webhooks })
    const settings = {
      TOLLGATE_PORT: String(port),
      TOLLGATE_HOSTED_URL: `http://127.0.0.1:${port}`,
      TOLLGATE_MCP_PORT: String(ports[0]),
      TOLLGATE_MCP_LIVE_URL: `http://127.0.0.1:${ports[0]}/mcp/{subdomain}`,
      TOLLGATE_MCP_SANDBOX_URL: `http://127.0.0.1:${ports[0]}/sandbox/mcp/{subdomain}`,
      TOLLGATE_SERVICE_SECRET: randomBytes(32).toString('base64url'),
      TOLLGATE_SECRET_KEYS: `test:${key.toString('base64')}`,
      TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
      TOLLGATE_STRIPE_SANDBOX_URL: simulator.url,
      TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_sequences',
      TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY: 'pk_test_sequences',
      TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: webhookSecret,
      TOLLGATE_PAYMENTS_INTERVAL_MS: '50',
      // Holds expire by the system clock. A sweep by the test's clock, which is ahead, would delete holds of running calls.
      TOLLGATE_HOUSEKEEPING_INTERVAL_MS: '3600000',
    }
    const processors = await openPaymentProcessors(readSettings(stripeSettings, settings))
    const stack = await startStack({ clock, processors, settings })
    const [origin, relay] = [new ToolOrigin(), new IngestRelay(Number(new URL(stack.baseUrl).port))]
    await Promise.all([origin.start(), relay.start()])
    const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-mcp-sequences-'))
    const secrets = new SecretBox([{ id: 'test', bytes: key }])
    const parts = {
      stack,
      simulator,
      origin,
      processors,
      secrets,
      relay,
      clock,
      settings,
      dataDir,
      ports,
    }
    const world = new World(parts)
    for (const place of ports.keys()) await world.#startProxy(place)
    return world
  }

  get nowMs(): number {
    return this.#clock.now()
  }

  get isAhead(): boolean {
    return this.#clock.aheadMs > 0
  }

  portOf(proxy: number): number {
    return this.#ports[proxy]!
  }

  /** Returns the name of a proxy's current life. A restart loses what the proxy had in memory. */
  lifeOf(proxy: number): string {
    return `${proxy}/${this.#lives[proxy]}`
  }

  pass(ms: number): void {
    this.#clock.aheadMs += ms
  }

  renewToken(token: string, environment: Environment = 'sandbox'): Promise<string> {
    return renewToken(this.stack.database.in(environment), this.#secrets, token, this.nowMs)
  }

  /** Waits until all proxies have read earlier changes. */
  untilNoticed(): Promise<void> {
    return sleep(3 * freshMs)
  }

  /** Restarts a proxy, one at a time. Running calls are finished, and cached state is lost. */
  restartProxy(place: number): Promise<void> {
    this.#restarting = this.#restarting.then(async () => {
      await Promise.allSettled(this.#undisturbed)
      await this.#proxies[place]!.stop()
      await this.#startProxy(place)
    })
    return this.#restarting
  }

  /**
   * Runs `body` while no proxy is restarted. A call that is neither answered nor cancelled would not be recorded and would delay
   * the stop.
   */
  async withoutRestarts(body: () => Promise<void>): Promise<void> {
    await this.#restarting
    const running = body()
    this.#undisturbed.add(running)
    await running.finally(() => this.#undisturbed.delete(running))
  }

  /** Cuts the proxies off from ingest for a moment. They do not learn the outcome of requests in progress. */
  async cutIngestOff(ms: number): Promise<void> {
    this.cutOffs += 1
    this.#relay.cutOff()
    await sleep(ms)
    this.#relay.goOn()
  }

  async #startProxy(place: number): Promise<void> {
    const { baseUrl, database } = this.stack
    const config = readMcpProxyConfig({
      ...this.#settings,
      TOLLGATE_DATA_DIR: this.#dataDir,
      TOLLGATE_DATABASE_URL: 'postgres://is-opened-already',
      TOLLGATE_MCP_PORT: String(this.#ports[place]),
      TOLLGATE_INGEST_URL: `http://127.0.0.1:${this.#relay.port}`,
      TOLLGATE_CONTROL_PLANE_URL: baseUrl,
      TOLLGATE_MCP_FRESH_MS: String(freshMs),
      TOLLGATE_MCP_LIMITS_FRESH_MS: String(freshMs),
      TOLLGATE_MCP_LIMITS_STALE_MS: '0',
      TOLLGATE_MCP_CANCEL_GRACE_MS: '50',
      TOLLGATE_ADMIN_PORT: '0',
    })
    const logger = createLogger('mcp-proxy', 'error')
    const proxy = createMcpProxy(config, { clock: this.#clock, logger, database })
    await proxy.start()
    this.#lives[place]! += 1
    this.#proxies[place] = proxy
  }

  async stopProxies(): Promise<void> {
    for (const proxy of this.#proxies.splice(0)) await proxy?.stop()
  }

  async stop(): Promise<void> {
    await this.stopProxies()
    await this.stack.stop()
    await this.#processors.close()
    await Promise.all([this.simulator.stop(), this.origin.stop(), this.#relay.stop()])
    await rm(this.#dataDir, { recursive: true, force: true })
  }
}

async function freePorts(count: number): Promise<[number, ...number[]]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports as [number, ...number[]]
}

class MovableClock implements Clock {
  aheadMs = 0

  now(): number {
    return Date.now() + this.aheadMs
  }
}

/** Relay between the proxies and ingest that can be cut off. Requests in progress lose their answer. */
class IngestRelay {
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  #isCutOff = false

  constructor(port: number) {
    this.#server = createServer((client) => {
      if (this.#isCutOff) return void client.destroy()
      const upstream = connect(port, '127.0.0.1')
      let isAnswered = true
      this.#sockets.add(client)
      client
        .on('error', () => undefined)
        .on('close', () => {
          this.#sockets.delete(client)
          // Ingest completes a request in progress only while its connection is open.
          if (isAnswered) upstream.destroy()
        })
      upstream.on('error', () => undefined).on('close', () => client.destroy())
      client.on('data', (chunk) => {
        isAnswered = false
        upstream.write(chunk)
      })
      upstream.on('data', (chunk) => {
        isAnswered = true
        if (client.destroyed) upstream.destroy()
        else client.write(chunk)
      })
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  cutOff(): void {
    this.#isCutOff = true
    for (const socket of this.#sockets) socket.destroy()
  }

  goOn(): void {
    this.#isCutOff = false
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
