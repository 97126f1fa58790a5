import { parseUrl } from '@tollgate/schemas/parse-url'
import type { Logger } from '@tollgate/platform/observability/logger'
import { Recent } from '@tollgate/platform/memory/recent'
import type { ServedServer } from '../servers/served-server.ts'
import { messageOf, type ServiceCalls } from '../services/service-calls.ts'

export type LinkPurpose = 'checkout' | 'topup' | 'portal'

export type LinkRequest = {
  readonly server: ServedServer
  readonly customerRef: string
  readonly purpose: LinkPurpose
  readonly planRef?: string | undefined
}

type CachedLink = { readonly url: string; readonly untilMs: number }

export type LinksOptions = {
  readonly timeoutMs: number
  readonly keptMs: number
}

const linksPath = '/v1/customer/auth/links'
const linksMax = 10_000

/** How long a failure is remembered, so that not every paywall waits for the control plane while it is unavailable. */
const failureKeptMs = 2_000

/**
 * Creates links to hosted pages for a customer. Each link requires sign-in and contains no secret that would sign in its holder.
 */
export class Links {
  readonly #controlPlane: ServiceCalls
  readonly #logger: Logger
  readonly #options: LinksOptions
  readonly #made = new Recent<CachedLink>(linksMax)
  readonly #making = new Map<string, Promise<string>>()

  constructor(controlPlane: ServiceCalls, logger: Logger, options: LinksOptions) {
    this.#controlPlane = controlPlane
    this.#logger = logger
    this.#options = options
  }

  /** Returns the URL of a link, or '' if the control plane cannot create one now. Never rejects. */
  urlOf(request: LinkRequest): Promise<string> {
    const key = keyOf(request)
    const made = this.#made.get(key)
    if (made !== undefined && made.untilMs > performance.now()) return Promise.resolve(made.url)
    const making =
      this.#making.get(key) ??
      this.#make(key, request).finally(() => {
        this.#making.delete(key)
      })
    this.#making.set(key, making)
    return making
  }

  async #make(key: string, request: LinkRequest): Promise<string> {
    const { server, customerRef, purpose, planRef } = request
    const { productRef } = server
    const body = { customerRef, productRef, purpose, ...(planRef === undefined ? {} : { planRef }) }
    const { timeoutMs, keptMs } = this.#options
    const reply = await this.#controlPlane.post(linksPath, server, body, timeoutMs)
    const url = reply.kind === 'replied' && reply.status < 300 ? urlIn(reply.body) : undefined
    if (url === undefined) {
      const reason = reply.kind === 'failed' ? reply.message : messageOf(reply)
      this.#logger.warn({ productRef, purpose, reason }, 'no link for a customer can be made')
    }
    const lastsMs = url === undefined ? failureKeptMs : keptMs
    this.#made.set(key, { url: url ?? '', untilMs: performance.now() + lastsMs })
    return url ?? ''
  }
}

function keyOf({ server, customerRef, purpose, planRef }: LinkRequest): string {
  const { environment, providerId, productRef } = server
  return JSON.stringify([environment, providerId, productRef, customerRef, purpose, planRef])
}

function urlIn(body: unknown): string | undefined {
  const { url } = (body ?? {}) as { url?: unknown }
  return typeof url === 'string' && parseUrl(url) !== undefined ? url : undefined
}
