import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PaymentOutcome } from '../payments/payment-outcomes.ts'
import type {
  NewPaymentIntent,
  PaymentConfirmation,
  PaymentProcessor,
} from '../payments/payment-processor.ts'

/**
 * Tests that a payment processor in test mode must pass, with Stripe's test payment methods. They use only the port, so they also
 * run against Stripe itself.
 */
export function paymentProcessorContract(open: () => PaymentProcessor): void {
  const newKey = (): string => `contract-${randomUUID()}`
  const offSession = (paymentMethodId: string): PaymentConfirmation => ({
    paymentMethodId,
    presence: 'off_session',
  })

  async function newCustomer(): Promise<string> {
    const made = await open().ensureCustomer(
      { email: 'ada@example.com', name: 'Ada', metadata: { customer: 'cus_1' } },
      newKey(),
    )
    if (made.outcome !== 'done') throw new Error(made.message)
    return made.value.id
  }

  async function newCard(customerId: string, token: string): Promise<string> {
    const attached = await open().attachPaymentMethod(token, customerId, newKey())
    if (attached.outcome !== 'done') throw new Error(attached.outcome)
    return attached.value.id
  }

  async function pay(
    customerId: string,
    more: Partial<NewPaymentIntent>,
    key = newKey(),
  ): Promise<PaymentOutcome> {
    const metadata = { invoice: 'inv_1' }
    const payment = { amountMinor: 1_999n, currency: 'USD', customerId, metadata, ...more }
    return await open().createPaymentIntent(payment, key)
  }

  async function paid(customerId: string, token: string): Promise<string> {
    const outcome = await pay(customerId, { confirm: offSession(await newCard(customerId, token)) })
    if (outcome.outcome !== 'succeeded') throw new Error(outcome.outcome)
    return outcome.intent.id
  }

  test('creates a customer, updates it if it differs, and creates it again after it was deleted', async () => {
    const processor = open()
    const id = await newCustomer()
    const described = { id, email: 'ada@example.org', metadata: { customer: 'cus_1' } }
    const changed = await processor.ensureCustomer(described, newKey())
    expect(changed).toMatchObject({ outcome: 'done', value: { id, email: 'ada@example.org' } })
    expect(await processor.retrieveCustomer(id)).toMatchObject({
      email: 'ada@example.org',
      name: 'Ada',
      metadata: { customer: 'cus_1' },
    })
    const anew = await processor.ensureCustomer({ ...described, id: 'cus_gone' }, newKey())
    expect(anew.outcome).toBe('done')
    expect(anew).not.toMatchObject({ value: { id } })
    expect(await processor.retrieveCustomer('cus_gone')).toBeUndefined()
  })

  test('saves, lists, prefers and detaches cards', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const first = await newCard(customerId, 'pm_card_visa')
    const second = await newCard(customerId, 'pm_card_mastercard')
    const cards = await processor.listPaymentMethods(customerId)
    expect(cards.map(({ id }) => id)).toEqual([second, first])
    expect(cards[0]?.card).toMatchObject({ brand: 'mastercard', last4: '4444' })
    const preferred = await processor.setDefaultPaymentMethod(customerId, second, newKey())
    expect(preferred).toMatchObject({ value: { defaultPaymentMethodId: second } })
    expect(await processor.detachPaymentMethod(second, newKey())).toMatchObject({
      outcome: 'done',
      value: { customerId: undefined },
    })
    expect(await processor.retrieveCustomer(customerId)).toMatchObject({
      defaultPaymentMethodId: undefined,
    })
    expect(await processor.listPaymentMethods(customerId)).toHaveLength(1)
    expect(await processor.attachPaymentMethod(second, customerId, newKey())).toMatchObject({
      outcome: 'refused',
    })
    const cleared = await processor.setDefaultPaymentMethod(customerId, undefined, newKey())
    expect(cleared).toMatchObject({ value: { defaultPaymentMethodId: undefined } })
  })

  test('reports a decline when the bank does not allow a card to be saved', async () => {
    const customerId = await newCustomer()
    const token = 'pm_card_chargeDeclined'
    expect(await open().attachPaymentMethod(token, customerId, newKey())).toMatchObject({
      outcome: 'declined',
      decline: { code: 'card_declined' },
    })
  })

  test('waits for the browser, with a client secret, if nothing is confirmed', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const created = await pay(customerId, { keepsCard: true })
    expect(created).toMatchObject({
      outcome: 'open',
      intent: {
        status: 'open',
        amountMinor: 1_999n,
        receivedMinor: 0n,
        currency: 'USD',
        customerId,
      },
    })
    if (created.outcome !== 'open') return
    const { id, clientSecret } = created.intent
    expect(clientSecret).toContain(`${id}_secret_`)
    const setup = await processor.createSetupIntent({ customerId, metadata: {} }, newKey())
    expect(setup).toMatchObject({ outcome: 'open', intent: { kind: 'setup_intent', customerId } })
    const change = { amountMinor: 2_500n, currency: 'USD' }
    const changed = await processor.changePaymentIntent(id, change, newKey())
    expect(changed).toMatchObject({ outcome: 'open', intent: { amountMinor: 2_500n } })
  })

  test.each([
    ['KWD', 1_512n, 1_000n],
    ['UGX', 4_000n, 1_500n],
    ['JPY', 500n, 100n],
    ['ISK', 50_000n, 10_000n],
  ])('charges and refunds %s in our minor units', async (currency, amountMinor, backMinor) => {
    const processor = open()
    const confirm = { paymentMethodId: 'pm_card_visa', presence: 'off_session' } as const
    const made = await pay(await newCustomer(), { amountMinor, currency, confirm })
    expect(made).toMatchObject({
      outcome: 'succeeded',
      intent: { amountMinor, receivedMinor: amountMinor, currency },
    })
    if (made.outcome !== 'succeeded') return
    const back = { paymentIntentId: made.intent.id, amountMinor: backMinor, currency, metadata: {} }
    expect(await processor.createRefund(back, newKey())).toMatchObject({
      outcome: 'done',
      value: { amountMinor: backMinor, currency },
    })
  })

  test('charges a saved card without the customer', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const intentId = await paid(customerId, 'pm_card_visa')
    const intent = await processor.retrieve('payment_intent', intentId)
    expect(intent).toMatchObject({ status: 'succeeded', receivedMinor: 1_999n })
    const charge = await processor.retrieve('charge', intent?.chargeId ?? '')
    expect(charge).toMatchObject({
      status: 'succeeded',
      amountMinor: 1_999n,
      refundedMinor: 0n,
      paymentIntentId: intentId,
      card: { brand: 'visa', last4: '4242' },
    })
  })

  test.each([
    ['pm_card_chargeCustomerFail', { code: 'card_declined', isHard: false, needsCustomer: false }],
    ['pm_card_authenticationRequired', { code: 'authentication_required', needsCustomer: true }],
  ])(
    'returns the reason why %s is declined, and lets another card pay the same intent',
    async (token, decline) => {
      const processor = open()
      const customerId = await newCustomer()
      const card = await newCard(customerId, token)
      const declined = await pay(customerId, { confirm: offSession(card) })
      expect(declined).toMatchObject({ outcome: 'declined', decline, intent: { status: 'open' } })
      if (declined.outcome !== 'declined' || declined.intent === undefined) return
      const { id } = declined.intent
      expect(await processor.retrieve('payment_intent', id)).toMatchObject({ lastDecline: decline })
      const other = await newCard(customerId, 'pm_card_visa')
      const retried = await processor.confirmPaymentIntent(id, offSession(other), newKey())
      expect(retried).toMatchObject({ outcome: 'succeeded', intent: { id, receivedMinor: 1_999n } })
      const again = await processor.confirmPaymentIntent(id, offSession(other), newKey())
      expect(again).toMatchObject({ outcome: 'succeeded', intent: { id } })
    },
  )

  test('redirects the customer to their bank only', async () => {
    const customerId = await newCustomer()
    const confirm = {
      paymentMethodId: 'pm_card_authenticationRequired',
      presence: 'on_session',
      returnUrl: 'https://example.com/back',
    } as const
    const asked = await pay(customerId, { confirm })
    expect(asked).toMatchObject({ outcome: 'requires_action', nextAction: { kind: 'redirect' } })
    const { returnUrl: _, ...withoutUrl } = confirm
    const inPage = await pay(customerId, { confirm: withoutUrl })
    expect(inPage).toMatchObject({ outcome: 'requires_action', nextAction: { kind: 'browser' } })
  })

  test('cancels an open payment, and returns the outcome of an ended one', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const created = await pay(customerId, {})
    if (created.outcome !== 'open') throw new Error(created.outcome)
    const { id } = created.intent
    expect(await processor.cancelPaymentIntent(id, newKey())).toMatchObject({ outcome: 'canceled' })
    expect(await processor.cancelPaymentIntent(id, newKey())).toMatchObject({ outcome: 'canceled' })
    const confirmed = await processor.confirmPaymentIntent(id, offSession('pm_card_visa'), newKey())
    expect(confirmed).toMatchObject({ outcome: 'canceled' })
    const intentId = await paid(customerId, 'pm_card_visa')
    expect(await processor.cancelPaymentIntent(intentId, newKey())).toMatchObject({
      outcome: 'succeeded',
    })
  })

  test('executes a request once per key, and refuses other parameters with the same key', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const confirm = offSession(await newCard(customerId, 'pm_card_visa'))
    const key = newKey()
    const first = await pay(customerId, { confirm }, key)
    const second = await pay(customerId, { confirm }, key)
    expect(second).toEqual(first)
    const other = await pay(customerId, { confirm, amountMinor: 2_000n }, key)
    expect(other).toMatchObject({ outcome: 'refused', reason: 'key_reused' })
    const from = new Date(Date.now() - 3_600_000)
    const found = []
    for await (const each of processor.findPaymentIntents({ customerId, createdFrom: from })) {
      found.push(each.id)
    }
    expect(found).toHaveLength(1)
  })

  test('finds payments by customer, time and metadata immediately', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const createdFrom = new Date(Date.now() - 3_600_000)
    for (const invoice of ['a', 'b', 'a']) await pay(customerId, { metadata: { invoice } })
    const find = async (search: { invoice?: string; createdTo?: Date }): Promise<number> => {
      const { createdTo, ...metadata } = search
      let count = 0
      for await (const { metadata: found } of processor.findPaymentIntents({
        customerId,
        createdFrom,
        createdTo,
        metadata,
      })) {
        expect(found).toMatchObject(metadata)
        count++
      }
      return count
    }
    expect(await find({})).toBe(3)
    expect(await find({ invoice: 'a' })).toBe(2)
    expect(await find({ invoice: 'c' })).toBe(0)
    expect(await find({ createdTo: createdFrom })).toBe(0)
  })

  test.each([
    [{ amountMinor: 10n }, 'amount_too_small'],
    [{ amountMinor: 100_000_000n }, 'amount_too_large'],
    [{ amountMinor: 10n ** 20n }, 'amount_too_large'],
    [{ currency: 'XXY' }, 'invalid'],
    [{ customerId: 'cus_gone' }, 'not_found'],
    [{ confirm: offSession('pm_gone') }, 'not_found'],
  ])('refuses %o: %s', async (more, reason) => {
    const customerId = await newCustomer()
    expect(await pay(customerId, more)).toMatchObject({ outcome: 'refused', reason })
  })

  test('refunds in parts, and never more than was paid', async () => {
    const processor = open()
    const paymentIntentId = await paid(await newCustomer(), 'pm_card_visa')
    const give = (amountMinor?: bigint): ReturnType<PaymentProcessor['createRefund']> =>
      processor.createRefund(
        { paymentIntentId, amountMinor, currency: 'USD', metadata: { refund: 'rf_1' } },
        newKey(),
      )
    const part = await give(999n)
    expect(part).toMatchObject({
      outcome: 'done',
      value: { status: 'succeeded', amountMinor: 999n, currency: 'USD', paymentIntentId },
    })
    expect(await give(1_001n)).toMatchObject({ outcome: 'refused', reason: 'invalid' })
    const rest = await give()
    expect(rest).toMatchObject({ outcome: 'done', value: { amountMinor: 1_000n } })
    expect(await give()).toMatchObject({ outcome: 'refused', reason: 'already_refunded' })
    if (rest.outcome !== 'done') return
    expect(await processor.retrieve('refund', rest.value.id)).toMatchObject({
      id: rest.value.id,
      metadata: { refund: 'rf_1' },
    })
    expect(await processor.retrieve('charge', rest.value.chargeId ?? '')).toMatchObject({
      refundedMinor: 1_999n,
    })
  })

  const anHourAgo = (): { createdFrom: Date } => ({
    createdFrom: new Date(Date.now() - 3_600_000),
  })

  async function idsOf(items: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
    const ids: string[] = []
    for await (const { id } of items) ids.push(id)
    return ids
  }

  test('lists payments, refunds and setups by time, the newest first', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const first = await paid(customerId, 'pm_card_visa')
    const second = await paid(customerId, 'pm_card_mastercard')
    const { chargeId } = (await processor.retrieve('payment_intent', first))!
    const refunded = await processor.createRefund(
      { paymentIntentId: first, currency: 'USD', metadata: {} },
      newKey(),
    )
    if (refunded.outcome !== 'done') throw new Error(refunded.outcome)
    const setup = await processor.createSetupIntent({ customerId, metadata: {} }, newKey())
    if (setup.outcome !== 'open') throw new Error(setup.outcome)
    const range = anHourAgo()
    const intents = await idsOf(processor.list('payment_intent', range))
    expect(intents.filter((id) => id === first || id === second)).toEqual([second, first])
    expect(await idsOf(processor.list('charge', range))).toContain(chargeId)
    expect(await idsOf(processor.list('refund', range))).toContain(refunded.value.id)
    expect(await idsOf(processor.list('setup_intent', range))).toContain(setup.intent.id)
    for await (const charge of processor.list('charge', range)) {
      if (charge.id === chargeId) {
        expect(charge).toEqual(await processor.retrieve('charge', charge.id))
        expect(charge.settlement).toMatchObject({ amountMinor: 1_999n, currency: 'USD' })
      }
    }
    const before = { ...range, createdTo: range.createdFrom }
    for (const kind of ['payment_intent', 'charge', 'refund', 'setup_intent'] as const) {
      expect(await idsOf(processor.list(kind, before))).toEqual([])
    }
    for (const kind of ['dispute', 'payout'] as const) {
      expect(await idsOf(processor.list(kind, range))).toEqual(expect.any(Array))
    }
  })

  test('lists more objects than fit on one page', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const made = await Promise.all(Array.from({ length: 120 }, () => pay(customerId, {})))
    const ids = made.map((each) => (each.outcome === 'open' ? each.intent.id : each.outcome))
    const found = await idsOf(
      processor.findPaymentIntents({ customerId, metadata: { invoice: 'inv_1' }, ...anHourAgo() }),
    )
    expect(found).toHaveLength(120)
    expect(new Set(found)).toEqual(new Set(ids))
  })

  test('lists events, including those without a delivered webhook', async () => {
    const processor = open()
    const id = await paid(await newCustomer(), 'pm_card_visa')
    const found = []
    for await (const event of processor.listEvents(anHourAgo())) {
      if (event.objectId === id) found.push(event)
    }
    expect(found).toMatchObject([
      { type: 'payment_intent.succeeded', objectKind: 'payment_intent', account: undefined },
    ])
    expect(Math.abs(found[0]!.createdAt.getTime() - Date.now())).toBeLessThan(600_000)
  })

  test('deletes a customer and its cards permanently', async () => {
    const processor = open()
    const customerId = await newCustomer()
    const paymentId = await paid(customerId, 'pm_card_visa')
    for (const _time of ['first', 'again']) {
      expect(await processor.deleteCustomer(customerId)).toMatchObject({ outcome: 'done' })
    }
    expect(await processor.retrieveCustomer(customerId)).toBeUndefined()
    expect(await pay(customerId, {})).toMatchObject({ outcome: 'refused', reason: 'not_found' })
    expect(await processor.retrieve('payment_intent', paymentId)).toMatchObject({
      status: 'succeeded',
    })
    const given = await processor.createRefund(
      { paymentIntentId: paymentId, currency: 'USD', metadata: {} },
      newKey(),
    )
    expect(given).toMatchObject({ outcome: 'done', value: { status: 'succeeded' } })
  })

  test.each(['payment_intent', 'setup_intent', 'charge', 'refund', 'dispute', 'payout'] as const)(
    'knows of no %s that is not there',
    async (kind) => {
      expect(await open().retrieve(kind, 'xx_gone')).toBeUndefined()
    },
  )
}
