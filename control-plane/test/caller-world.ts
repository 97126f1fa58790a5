import { expect } from 'vitest'
import { formTokenOf } from '../src/pages/cookies.ts'
import { planNames, type Act, type CallerStep, type PlanName } from './caller-step.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/** Plans with prices in US cents. None of them starts automatically. */
const plans = {
  free: { type: 'recurring', billingCycle: 'monthly', price: 0 },
  other: { type: 'recurring', billingCycle: 'monthly', price: 0 },
  trial: { type: 'recurring', billingCycle: 'monthly', price: 2_900, trialDays: 14 },
  paid: { type: 'recurring', billingCycle: 'monthly', price: 1_900 },
  dear: { type: 'recurring', billingCycle: 'monthly', price: 4_900 },
} as const satisfies Record<PlanName, object>

const openStatuses = ['active', 'trialing', 'past_due', 'suspended']

/**
 * A customer of a sequence. `boundId` is the id of a checkout that was opened with an `ingest`-only key, possibly before the customer
 * had a purchase.
 */
type Player = { readonly customerRef: string; boundId: string | undefined }

type Purchase = {
  readonly reference: string
  readonly customer_ref: string
  readonly plan_ref: string
  readonly status: string
  readonly row: string
}

/** State of the service, read from its database and not from its responses. */
type Held = {
  readonly purchases: readonly Purchase[]
  /** Ids that open a portal, or a checkout that may end a purchase. */
  readonly secrets: readonly string[]
  readonly keys: number
}

type Played = { readonly before: Held; readonly after: Held; readonly texts: readonly string[] }

/** A provider with a key for each kind of caller. The payment processor is unavailable. */
export class CallerWorld {
  readonly #stack: TestStack
  readonly #tenant: Tenant
  readonly #keys: ReadonlyMap<string, string>
  readonly #productRef: string
  readonly #planRefs: Readonly<Record<PlanName, string>>
  #customers = 0

  private constructor(
    stack: TestStack,
    tenant: Tenant,
    keys: ReadonlyMap<string, string>,
    productRef: string,
    planRefs: Readonly<Record<PlanName, string>>,
  ) {
    this.#stack = stack
    this.#tenant = tenant
    this.#keys = keys
    this.#productRef = productRef
    this.#planRefs = planRefs
  }

  static async open(): Promise<CallerWorld> {
    const stack = await startTestStack({
      settings: { TOLLGATE_STRIPE_SANDBOX_URL: 'http://127.0.0.1:9' },
    })
    const tenant = await stack.createTenant()
    const make = async <Body>(path: string, body: object): Promise<Body> =>
      (await stack.call<Body>(tenant.sandboxKey, 'POST', path, body)).body
    const keys = new Map([['manage', tenant.sandboxKey]])
    for (const scope of ['ingest', 'read', 'webhooks']) {
      const { secretKey } = await make<{ secretKey: string }>('/v1/ui/api-keys', {
        scopes: [scope],
      })
      keys.set(scope, secretKey)
    }
    const product = await make<{ reference: string }>('/v1/sdk/products', { name: 'API' })
    const planRefs: Record<string, string> = {}
    for (const name of planNames) {
      const path = `/v1/sdk/products/${product.reference}/plans`
      planRefs[name] = (await make<{ reference: string }>(path, { name, ...plans[name] })).reference
    }
    const made = planRefs as Record<PlanName, string>
    return new CallerWorld(stack, tenant, keys, product.reference, made)
  }

  close(): Promise<void> {
    return this.#stack.stop()
  }

  async addPlayers(): Promise<readonly [Player, Player]> {
    const add = async (): Promise<Player> => {
      const email = `customer${this.#customers++}@example.com`
      const { body } = await this.#call<{ reference: string }>('manage', '/v1/sdk/customers', {
        email,
      })
      const player: Player = { customerRef: body.reference, boundId: undefined }
      await this.#renewBound(player)
      return player
    }
    return [await add(), await add()]
  }

  async read(): Promise<Held> {
    const sql = this.#stack.database.in('sandbox')
    const { providerId } = this.#tenant
    const purchases = await sql<Purchase[]>`
      select reference, customer_ref, plan_ref, status, to_jsonb(purchases)::text as row
      from purchases where provider_id = ${providerId} order by reference`
    const secrets = await sql<{ session_id: string }[]>`
      select session_id from customer_sessions where provider_id = ${providerId}
      union all
      select session_id from checkout_sessions
      where provider_id = ${providerId} and may_change_plan`
    const [keys] = await this.#stack.database.control<{ count: number }[]>`
      select count(*)::int as count from api_keys where provider_id = ${providerId}`
    return { purchases, secrets: secrets.map((row) => row.session_id), keys: keys!.count }
  }

  /** Runs the step. Returns the texts of the successful responses. */
  async play(players: readonly [Player, Player], step: CallerStep): Promise<string[]> {
    const player = players[step.customer]
    if (step.caller === 'bound') return this.#playCheckout(player, step.plan)
    if (step.caller === 'portal') return this.#playPortal(player, players[1 - step.customer]!, step)
    const held = await this.#heldBy(player)
    const requests = this.#requestsOf(player, step, held?.reference ?? 'pur_NONE')
    const texts: string[] = []
    for (const [method, path, body] of requests) {
      const answer = await this.#send(step.caller, method, path, body)
      if (answer.status < 300) texts.push(JSON.stringify(answer.body))
      expect(answer.status, `${method} ${path}`).toBeLessThan(500)
    }
    return texts
  }

  /** Fails if a caller gained what its rights deny. `description` describes the sequence in failure messages. */
  expectNothingGained(
    players: readonly [Player, Player],
    { caller, act, customer }: CallerStep,
    { before, after, texts }: Played,
    description: string,
  ): void {
    if (caller !== 'manage') {
      if (act === 'issue key') expect(after.keys, description).toBe(before.keys)
      for (const secret of caller === 'portal' ? [] : before.secrets) {
        for (const text of texts) expect(text.includes(secret), description).toBe(false)
      }
    }
    const changed = before.purchases.filter(
      (purchase) =>
        after.purchases.find(({ reference }) => reference === purchase.reference)?.row !==
        purchase.row,
    )
    const begun = after.purchases.filter(
      ({ reference }) => !before.purchases.some((purchase) => purchase.reference === reference),
    )
    const own = players[customer].customerRef
    for (const { customer_ref: whose } of [...changed, ...begun])
      expect(whose, description).toBe(own)
    this.#expectRights(caller, changed, begun, description)
    this.#expectUnpaid(after.purchases, description)
  }

  #expectRights(
    caller: CallerStep['caller'],
    changed: readonly Purchase[],
    begun: readonly Purchase[],
    description: string,
  ): void {
    if (caller === 'manage' || caller === 'portal') return
    // The caller ended or changed no purchase that gives access.
    expect(
      changed.filter(({ status }) => openStatuses.includes(status)),
      description,
    ).toEqual([])
    if (caller !== 'bound') expect(begun, description).toEqual([])
  }

  /** Fails unless every purchase with access is free, or is the only trial of its customer, because no payment was made. */
  #expectUnpaid(purchases: readonly Purchase[], description: string): void {
    const trials = new Map<string, number>()
    const holders = new Map<string, number>()
    for (const { plan_ref: planRef, status, customer_ref: whose } of purchases) {
      const name = this.#nameOf(planRef)
      if (name === 'trial') trials.set(whose, (trials.get(whose) ?? 0) + 1)
      if (status === 'active') expect(plans[name].price, description).toBe(0)
      if (status === 'trialing') expect(name, description).toBe('trial')
      if (openStatuses.includes(status)) holders.set(whose, (holders.get(whose) ?? 0) + 1)
    }
    for (const count of [...trials.values(), ...holders.values()])
      expect(count, description).toBe(1)
  }

  #nameOf(planRef: string): PlanName {
    return planNames.find((name) => this.#planRefs[name] === planRef)!
  }

  async #heldBy({ customerRef }: Player): Promise<Purchase | undefined> {
    const { purchases } = await this.read()
    return purchases.find(
      (each) => each.customer_ref === customerRef && openStatuses.includes(each.status),
    )
  }

  #requestsOf(
    { customerRef }: Player,
    { act, plan }: CallerStep,
    purchaseRef: string,
  ): [string, string, object?][] {
    const of = { customerRef, productRef: this.#productRef }
    const checked = { ...of, includeCheckoutSession: true }
    const requests: Record<Act, [string, string, object?][]> = {
      'check limit': [['POST', '/v1/sdk/limits', checked]],
      activate: [['POST', '/v1/sdk/activate', { ...of, planRef: this.#planRefs[plan] }]],
      cancel: [['POST', `/v1/sdk/purchases/${purchaseRef}/cancel`, {}]],
      reactivate: [['POST', `/v1/sdk/purchases/${purchaseRef}/reactivate`, {}]],
      'open portal': [['POST', '/v1/sdk/customers/customer-sessions', { customerRef }]],
      'open checkout': [['POST', '/v1/sdk/checkout-sessions', of]],
      'grant credits': [['POST', `/v1/sdk/customers/${customerRef}/credits`, { credits: 5 }]],
      'issue key': [['POST', '/v1/ui/api-keys', { scopes: ['manage'] }]],
      look: [
        ['POST', '/v1/sdk/user-info', of],
        ['GET', '/v1/ui/events?limit=100'],
        ['GET', '/v1/ui/webhook-deliveries'],
        ['GET', '/v1/ui/audit-log?limit=100'],
        ['GET', `/v1/sdk/purchases/customer/${customerRef}`],
      ],
    }
    return requests[act]
  }

  async #renewBound(player: Player): Promise<void> {
    const { customerRef } = player
    const checked = { customerRef, productRef: this.#productRef, includeCheckoutSession: true }
    const { body } = await this.#call<{ checkoutSessionId?: string }>(
      'ingest',
      '/v1/sdk/limits',
      checked,
    )
    player.boundId = body.checkoutSessionId ?? player.boundId
  }

  async #playCheckout(player: Player, plan: PlanName): Promise<string[]> {
    await this.#renewBound(player)
    const sessionId = player.boundId
    if (sessionId === undefined) return []
    const opened = await this.#stack.fetch(`/customer/checkout?id=${sessionId}`, {
      redirect: 'manual',
    })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const path = opened.headers.get('location') ?? ''
    // The checkout is already completed.
    if (opened.status !== 303) return []
    const form = new URLSearchParams({
      formToken: formTokenOf(sessionId),
      plan: this.#planRefs[plan],
    })
    const texts = []
    for (const how of ['activate', 'trial']) {
      const init = { method: 'POST', body: form, headers: { cookie }, redirect: 'manual' } as const
      const answer = await this.#stack.fetch(`${path}/${how}`, init)
      texts.push(await answer.text())
    }
    return texts
  }

  /** Uses the portal on the customer's own purchase, and the same form on the purchase of the other customer. */
  async #playPortal(player: Player, other: Player, { act }: CallerStep): Promise<string[]> {
    const { body } = await this.#call<{ sessionId: string }>(
      'manage',
      '/v1/sdk/customers/customer-sessions',
      { customerRef: player.customerRef },
    )
    const opened = await this.#stack.fetch('/customer/manage', {
      method: 'POST',
      body: new URLSearchParams({ id: body.sessionId }),
      redirect: 'manual',
    })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const path = opened.headers.get('location') ?? ''
    const formToken = formTokenOf(cookie.slice(cookie.indexOf('.') + 1))
    const how = act === 'reactivate' ? 'keep' : 'cancel'
    const texts: string[] = []
    for (const whose of [player, other]) {
      const held = await this.#heldBy(whose)
      if (held === undefined) continue
      const answer = await this.#stack.fetch(`${path}/purchases/${held.reference}/${how}`, {
        method: 'POST',
        body: new URLSearchParams({ formToken }),
        headers: { cookie },
        redirect: 'manual',
      })
      expect(answer.status, path).toBe(whose === player ? 303 : 404)
      texts.push(await answer.text())
    }
    return texts
  }

  #call<Body>(caller: string, path: string, body: object) {
    return this.#stack.call<Body>(this.#keys.get(caller), 'POST', path, body)
  }

  #send(caller: string, method: string, path: string, body?: object) {
    return this.#stack.call<object>(this.#keys.get(caller), method, path, body)
  }
}
