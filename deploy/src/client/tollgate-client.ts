import { createHttpClient, type HttpResponse, type HttpClientOptions } from './http-client.ts'

/** The operations that the demo, the seed and the chaos runs use. They only use the public address. */
export type TollgateClient = {
  createProduct(product: Record<string, unknown>): Promise<{ reference: string }>
  findProduct(name: string): Promise<{ reference: string } | undefined>
  createPlan(productRef: string, plan: Record<string, unknown>): Promise<{ reference: string }>
  listPlans(productRef: string): Promise<readonly { reference: string; name?: string }[]>
  createCustomer(customer: Record<string, unknown>): Promise<{ reference: string }>
  recordUsage(usage: Record<string, unknown>): Promise<UsageResponse>
  recordUsages(usages: readonly Record<string, unknown>[]): Promise<BulkUsageResponse>
  checkLimit(customerRef: string, productRef: string): Promise<LimitResponse>
  listMeters(): Promise<readonly { readonly reference: string; readonly name: string }[]>
  /** Returns the reference of the provider's `requests` meter. */
  requestsMeter(): Promise<string>
  meterUsage(meterRef: string, query: Record<string, string>): Promise<MeterUsage>
  /** Sends a request that has no method here. Throws an UnexpectedResponseError if its status is not 2xx. */
  require(method: string, path: string, body: unknown, idempotencyKey?: string): Promise<unknown>
  /** Sends a request and returns the answer, whatever its status. */
  send(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<HttpResponse>
  close(): void
}

export type UsageResponse = {
  readonly success: boolean
  readonly reference: string
  readonly creditDebit?: CreditDebit
}

export type BulkUsageResponse = {
  readonly inserted: number
  readonly results: readonly { readonly reference: string; readonly creditDebit?: CreditDebit }[]
}

type CreditDebit = { readonly debited: boolean; readonly reason?: string }

export type LimitResponse = {
  readonly withinLimits: boolean
  readonly remaining: number
  readonly plan?: string
  readonly plans?: readonly unknown[]
  readonly product?: unknown
}

export type MeterUsage = { readonly total: number; readonly count: number }

/** The service answered with a status other than 2xx. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError'
  readonly status: number

  constructor(method: string, path: string, answer: HttpResponse) {
    super(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`)
    this.status = answer.status
  }
}

export function createTollgateClient(options: HttpClientOptions): TollgateClient {
  const http = createHttpClient(options)

  async function call<Body>(
    method: string,
    path: string,
    body?: unknown,
    idempotencyKey?: string,
  ): Promise<Body> {
    const answer = await http.send(method, path, body, idempotencyKey)
    if (answer.status < 200 || answer.status > 299) {
      throw new UnexpectedResponseError(method, path, answer)
    }
    return answer.body as Body
  }

  async function listMeters(): Promise<readonly { reference: string; name: string }[]> {
    const { meters } = await call<{ meters: { reference: string; name: string }[] }>(
      'GET',
      '/v1/ui/meters',
    )
    return meters
  }

  return {
    createProduct: (product) => call('POST', '/v1/sdk/products', product),
    async findProduct(name) {
      const { products } = await call<{ products: { reference: string; name: string }[] }>(
        'GET',
        `/v1/sdk/products?limit=100&search=${encodeURIComponent(name)}`,
      )
      return products.find((each) => each.name === name)
    },
    createPlan: (productRef, plan) => call('POST', `/v1/sdk/products/${productRef}/plans`, plan),
    async listPlans(productRef) {
      const path = `/v1/sdk/products/${productRef}/plans?limit=100`
      return (await call<{ plans: { reference: string; name?: string }[] }>('GET', path)).plans
    },
    createCustomer: (customer) => call('POST', '/v1/sdk/customers', customer),
    recordUsage: (usage) => call('POST', '/v1/sdk/usages', usage),
    recordUsages: (usages) => call('POST', '/v1/sdk/usages/bulk', { events: usages }),
    checkLimit: (customerRef, productRef) =>
      call('POST', '/v1/sdk/limits', { customerRef, productRef }),
    listMeters,
    async requestsMeter() {
      const meter = (await listMeters()).find((each) => each.name === 'requests')
      if (!meter) throw new Error('The provider has no meter named requests')
      return meter.reference
    },
    meterUsage: (meterRef, query) =>
      call('GET', `/ui/meters/${meterRef}/usage?${new URLSearchParams(query).toString()}`),
    require: call,
    send: (...parameters) => http.send(...parameters),
    close: () => http.close(),
  }
}
