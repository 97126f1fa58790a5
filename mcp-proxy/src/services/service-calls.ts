import { serviceKeyOf, type ServiceKeyHolder } from '@tollgate/domain/api-keys/service-key'
import { Recent } from '@tollgate/platform/memory/recent'
import { Pool } from 'undici'
import { parseJson } from '../protocol/parse-json.ts'

export type ServiceCallsOptions = {
  /** Origin of the service, for example `http://127.0.0.1:8787`. */
  readonly origin: string
  readonly secret: string
  readonly connectionsMax: number
}

export type ServiceReply =
  | { readonly kind: 'replied'; readonly status: number; readonly body: unknown }
  /** No complete answer arrived in time. The service may have executed the request. */
  | { readonly kind: 'failed'; readonly message: string }

const keysMax = 10_000

/** Sends JSON requests to another service of the installation, on behalf of a provider. */
export class ServiceCalls {
  readonly #secret: string
  readonly #pool: Pool
  readonly #authorizations = new Recent<string>(keysMax)

  constructor({ origin, secret, connectionsMax }: ServiceCallsOptions) {
    this.#secret = secret
    this.#pool = new Pool(origin, { connections: connectionsMax })
  }

  async post(
    path: string,
    holder: ServiceKeyHolder,
    body: unknown,
    timeoutMs: number,
  ): Promise<ServiceReply> {
    try {
      const response = await this.#pool.request({
        method: 'POST',
        path,
        headers: {
          authorization: this.#authorizationOf(holder),
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      })
      const text = await response.body.text()
      // An intermediary may answer with a body that is not JSON.
      return { kind: 'replied', status: response.statusCode, body: parseJson(text) }
    } catch (error) {
      return { kind: 'failed', message: (error as Error).message }
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  #authorizationOf({ environment, providerId }: ServiceKeyHolder): string {
    const name = `${environment}/${providerId}`
    const known = this.#authorizations.get(name)
    if (known !== undefined) return known
    const authorization = `Bearer ${serviceKeyOf(this.#secret, { environment, providerId })}`
    this.#authorizations.set(name, authorization)
    return authorization
  }
}

/** Returns the message of an error body, for logs. */
export function messageOf({ status, body }: { status: number; body: unknown }): string {
  const { message } = (body ?? {}) as { message?: unknown }
  return typeof message === 'string' ? `${status}: ${message}` : `status ${status}`
}
