import { expect } from 'vitest'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { PurchaseBody, PurchaseBriefBody } from '@tollgate/schemas/http/purchases'
import type { TollgateClient } from '../../src/client/tollgate-client.ts'

/** Common requests of the tests of rules. Each throws if the status is not the expected one. */
export type Shop = {
  get<Body>(path: string, status?: number): Promise<Body>
  post<Body>(path: string, body?: unknown, status?: number): Promise<Body>
  put<Body>(path: string, body: unknown, status?: number): Promise<Body>
  patch<Body>(path: string, body: unknown, status?: number): Promise<Body>
  delete<Body>(path: string, status?: number): Promise<Body>

  newProduct(fields?: object): Promise<string>
  newPlan(productRef: string, fields: object): Promise<string>
  /** Creates a product with one plan. */
  sell(plan: object): Promise<Offer>
  newCustomer(fields?: object): Promise<string>

  activate(customerRef: string, offer: Offer): Promise<ActivateResponse>
  /** Activates a plan and returns the reference of the purchase. */
  buy(customerRef: string, offer: Offer): Promise<string>
  cancel(purchaseRef: string, reason?: string): Promise<PlanChange>
  reactivate(purchaseRef: string): Promise<PlanChange>
  purchase(purchaseRef: string): Promise<PurchaseBody>
  purchasesOf(customerRef: string): Promise<readonly PurchaseBody[]>
  check(customerRef: string, productRef: string, more?: object): Promise<LimitsResponse>
  use(customerRef: string, productRef: string, units?: number): Promise<unknown>
  /** Returns the events about the given references, oldest first. */
  eventsOf(...references: readonly string[]): Promise<readonly EmittedEvent[]>
}

export type Offer = { readonly productRef: string; readonly planRef: string }
type PlanChange = { readonly success: boolean; readonly purchase: PurchaseBriefBody }
type Made = { readonly reference: string }
type EventData = {
  readonly object: Readonly<Record<string, unknown>>
  readonly previous_attributes: object | null
}
type EmittedEvent = EventData & { readonly type: string }

export function openShop(client: TollgateClient): Shop {
  const send = async <Body>(
    method: string,
    path: string,
    body: unknown,
    status: number,
  ): Promise<Body> => {
    const answer = await client.send(method, path, body)
    const title = `${method} ${path} ${JSON.stringify(body)}`
    expect([title, answer.status, answer.body]).toEqual([title, status, expect.anything()])
    return answer.body as Body
  }
  const requests: Pick<Shop, 'get' | 'post' | 'put' | 'patch' | 'delete'> = {
    get: (path, status = 200) => send('GET', path, undefined, status),
    post: (path, body, status = 200) => send('POST', path, body, status),
    put: (path, body, status = 200) => send('PUT', path, body, status),
    patch: (path, body, status = 200) => send('PATCH', path, body, status),
    delete: (path, status = 200) => send('DELETE', path, undefined, status),
  }
  return { ...requests, ...catalogOf(requests), ...purchasesOf(requests), ...usageOf(requests) }
}

type Requests = Pick<Shop, 'get' | 'post'>

let made = 0

function catalogOf({
  post,
}: Requests): Pick<Shop, 'newProduct' | 'newPlan' | 'sell' | 'newCustomer'> {
  const create = async (path: string, fields: object): Promise<string> =>
    (await post<Made>(path, fields, 201)).reference
  const newProduct = (fields: object = {}): Promise<string> =>
    create('/v1/sdk/products', { name: 'Product', ...fields })
  const newPlan = (productRef: string, fields: object): Promise<string> =>
    create(`/v1/sdk/products/${productRef}/plans`, { name: 'Plan', ...fields })
  return {
    newProduct,
    newPlan,
    async sell(plan) {
      const productRef = await newProduct()
      return { productRef, planRef: await newPlan(productRef, plan) }
    },
    newCustomer(fields = {}) {
      made += 1
      return create('/v1/sdk/customers', { email: `shopper${made}@acme.example`, ...fields })
    },
  }
}

function purchasesOf({
  get,
  post,
}: Requests): Pick<
  Shop,
  'activate' | 'buy' | 'cancel' | 'reactivate' | 'purchase' | 'purchasesOf' | 'eventsOf'
> {
  const activate: Shop['activate'] = (customerRef, offer) =>
    post('/v1/sdk/activate', { customerRef, ...offer })
  return {
    activate,
    async buy(customerRef, offer) {
      const { status, purchaseRef } = await activate(customerRef, offer)
      expect([status, purchaseRef]).toEqual(['activated', expect.any(String)])
      return purchaseRef!
    },
    cancel: (purchaseRef, reason) =>
      post(`/v1/sdk/purchases/${purchaseRef}/cancel`, reason && { reason }),
    reactivate: (purchaseRef) => post(`/v1/sdk/purchases/${purchaseRef}/reactivate`),
    purchase: (purchaseRef) => get(`/v1/sdk/purchases/${purchaseRef}`),
    async purchasesOf(customerRef) {
      const path = `/v1/sdk/purchases/customer/${customerRef}`
      return (await get<{ purchases: PurchaseBody[] }>(path)).purchases
    },
    async eventsOf(...references) {
      const { events } = await get<{ events: { id: string; type: string }[] }>(
        '/v1/ui/events?limit=100',
      )
      const emitted = await Promise.all(
        events.map(async ({ id, type }) => {
          const { data } = await get<{ data: EventData }>(`/v1/ui/events/${id}`)
          return { type, ...data }
        }),
      )
      const isAsked = ({ object }: EmittedEvent) =>
        Object.values(object).some((value) => references.includes(value as string))
      return emitted.filter(isAsked).reverse()
    },
  }
}

function usageOf({ post }: Requests): Pick<Shop, 'check' | 'use'> {
  return {
    check: (customerRef, productRef, more) =>
      post('/v1/sdk/limits', { customerRef, productRef, ...more }),
    use: (customerRef, productRef, units = 1) =>
      post('/v1/sdk/usages', { customerRef, productRef, units }),
  }
}
