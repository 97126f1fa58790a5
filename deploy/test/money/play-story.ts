import { randomUUID } from 'node:crypto'
import { setUpCard } from '@tollgate/domain/settlement/set-up-card'
import { openInvoicePayment } from '@tollgate/domain/charging/open-invoice-payment'
import { findCustomer } from '@tollgate/domain/customers/repository'
import { deleteCustomer } from '@tollgate/domain/deletion/delete-customer'
import { listDebts } from '@tollgate/domain/invoices/debts'
import { createPayment } from '@tollgate/domain/charging/create-payment'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import { PaymentUnknownError } from '@tollgate/domain/payments/payment-parts'
import { awaitPayment } from '@tollgate/domain/settlement/await-payment'
import { taxPayment } from '@tollgate/domain/charging/tax-payment'
import { activatePlan, type ActivateAndBillRequest } from '@tollgate/domain/billing/activate-plan'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { reactivatePurchase } from '@tollgate/domain/purchases/reactivate-purchase'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { holdUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { callProcessor, readProcessor } from '../../../stripe-simulator/test/at-processor.ts'
import { walletLimits, type CrashingService } from './crashing-service.ts'
import { playProviderAct } from './play-provider-act.ts'
import type { StoryContext } from './story-context.ts'
import type { PlanName } from './shop.ts'
import type { Act, Slot, Story, Item } from './story.ts'
import { environment } from './environment.ts'

export async function playStory(context: StoryContext, story: Story): Promise<void> {
  for (const together of story.acts) {
    const played = await Promise.allSettled(
      together.filter((act) => !isLong(act)).map((act) => play(context, act)),
    )
    for (const each of played) if (each.status === 'rejected') throw each.reason as Error
    for (const act of together.filter(isLong)) await play(context, act)
  }
}

/** Returns whether an act lasts longer than any call or webhook can be in flight. */
function isLong(act: Act): boolean {
  return act.do === 'pass' && act.minutes >= 5
}

/** Returns whether the error means that the processor gave no answer, so that the request may be repeated. */
function isUnanswered(error: unknown): boolean {
  return error instanceof PaymentUnknownError || error instanceof PaymentProcessorUnavailableError
}

async function play(context: StoryContext, act: Act): Promise<void> {
  const { world } = context
  switch (act.do) {
    case 'buy':
      return buy(context, act.slot, act.item)
    case 'pay':
      return pay(context, act.slot, act.card)
    case 'wait for':
      return withPayment(context, act.slot, (service, reference) =>
        awaitPayment(service.parts, service.operation(context.shop.providerId), reference, 0),
      )
    case 'open the debt':
      return openDebt(context, act.slot)
    case 'state the country':
      return stateCountry(context, act.slot, act.country)
    case 'leave':
      return actAsCustomer(context, (work) => deleteCustomer(work, context.customer.reference))
    case 'settle and leave':
      return world.act((service) =>
        service.closeCustomer(context.shop.providerId, context.customer.reference, act.settle),
      )
    case 'take':
      return activate(context, act.plan)
    case 'cancel':
      return onPurchase(context, (work, reference) => cancelPurchase(work, reference, null))
    case 'reactivate':
      return onPurchase(context, reactivatePurchase)
    case 'decide':
    case 'pay out':
    case 'add an item':
    case 'issue an invoice':
    case 'collect':
    case 'give a coupon':
    case 'set the support':
    case 'grant credits':
    case 'move the grants':
    case 'schedule':
    case 'withdraw the change':
    case 'migrate':
    case 'correct':
    case 'backfill':
    case 'agree a price':
      return playProviderAct(context, act)
    case 'enter a card':
      return enterCard(context, act.card)
    case 'use credits':
      return useCredits(context)
    case 'use':
      return recordUsage(context, act.units, act.lateDays)
    case 'run':
      await world.act<unknown>((service) => service[act.job]())
      return
    case 'deliver webhooks':
      return deliverWebhooks(context, act.order, act.copies)
    case 'lose webhooks':
      return loseWebhooks(context)
    case 'send pending calls':
      return world.sendPendingCalls()
    case 'pass':
      // No call may stay in flight for as long as the processor remembers an idempotency key.
      if (isLong(act)) await world.completeCalls()
      return world.advanceClock(act.minutes * 60_000)
    case 'inject a fault':
      return world.injectFault(act)
    default:
      return playAtProcessor(context, act)
  }
}

type AtProcessorAct = Extract<
  Act,
  { readonly do: 'answer the bank' | 'refund' | 'end the refund' | 'dispute' | 'end the dispute' }
>

/** Plays an act at the processor. The processor refuses an act that does not fit the current state, and changes nothing. */
async function playAtProcessor(context: StoryContext, act: AtProcessorAct): Promise<void> {
  const { world } = context
  const { url } = world.simulator.simulator
  const tell = (path: string, body: object): Promise<unknown> =>
    world.simulator.admin(path, body).catch(() => undefined)
  const paymentId = 'slot' in act ? await paymentIdOf(context, act.slot) : undefined
  if ('slot' in act && paymentId === undefined) return
  switch (act.do) {
    case 'answer the bank':
      await tell(`payment_intents/${paymentId}/authenticate`, { isAccepted: act.isAccepted })
      return
    case 'refund': {
      const part = act.isPart ? { amount: '300' } : {}
      const fields = { payment_intent: paymentId!, ...part }
      await callProcessor(url, 'POST', 'refunds', fields).catch(() => undefined)
      return
    }
    case 'end the refund': {
      const { refunds } = await readProcessor(url)
      for (const { id } of refunds) await tell(`refunds/${id}/end`, { status: act.status })
      return
    }
    case 'dispute': {
      const { charges } = await readProcessor(url)
      const charge = charges.find((each) => each.payment_intent === paymentId)
      if (charge?.status === 'succeeded') await tell(`charges/${charge.id}/dispute`, {})
      return
    }
    case 'end the dispute': {
      const { disputes } = await readProcessor(url)
      for (const { id } of disputes) await tell(`disputes/${id}/close`, { ending: act.ending })
    }
  }
}

async function paymentIdOf({ world, known }: StoryContext, slot: Slot | 'newest') {
  if (slot !== 'newest') return known.get(slot)?.processorPaymentId
  const { charges } = await readProcessor(world.simulator.simulator.url)
  return charges.find(({ status }) => status === 'succeeded')?.payment_intent
}

/** Runs an operation that the customer, or the provider on its behalf, requests. */
async function actAsCustomer(
  { world, shop }: StoryContext,
  body: (work: UnitOfWork) => Promise<unknown>,
): Promise<void> {
  await world.act((service) => service.parts.commit(service.operation(shop.providerId), body))
}

function activate(context: StoryContext, plan: PlanName): Promise<void> {
  const { customer, shop } = context
  const { productRef, planRefs } = shop
  const seller = { name: 'Acme' }
  const request = { customer, productRef, planRef: planRefs[plan], cycleMode: 'calendar', seller }
  return actAsCustomer(context, (work) => activatePlan(work, request as ActivateAndBillRequest))
}

/** Runs an operation on the newest purchase of the product. */
function onPurchase(
  context: StoryContext,
  body: (work: UnitOfWork, reference: string) => Promise<unknown>,
): Promise<void> {
  const { customer, shop } = context
  return actAsCustomer(context, async (work) => {
    const { sql, providerId } = work
    const fields = { customerRef: customer.reference, productRef: shop.productRef }
    const held = await findDecidingPurchase(sql, providerId, fields.customerRef, fields.productRef)
    if (held !== undefined) await body(work, held.reference)
  })
}

/** Saves a card. Each card is one attempt, even if it is entered repeatedly. */
async function enterCard({ world, shop, customer }: StoryContext, card: string): Promise<void> {
  try {
    const setup = await world.act(async (service) => {
      const operation = service.operation(shop.providerId)
      const { providerId } = operation
      const known = await service.parts.database
        .of(providerId)
        .in(environment)
        .read((sql) => findCustomer(sql, providerId, customer.reference))
      return known && setUpCard(service.parts, operation, known, card)
    })
    if (setup === undefined) return
    const fields = { payment_method: card, return_url: 'https://shop.example/back' }
    const { url } = world.simulator.simulator
    const path = `setup_intents/${setup.setupIntentId}/confirm`
    await callProcessor(url, 'POST', path, fields).catch(() => undefined)
  } catch (error) {
    if (!isUnanswered(error)) throw error
  }
}

/** Requests a payment. A repeated request has the same key and the same content. */
async function buy(context: StoryContext, slot: Slot, item: Item): Promise<void> {
  const { world, shop, customer, known } = context
  const payment = known.get(slot) ?? { item }
  known.set(slot, payment)
  if (payment.item === undefined) return
  const request = requestOf(context, slot, payment.item)
  try {
    const outcome = await world.act((service) =>
      createPayment(service.parts, service.operation(shop.providerId), request),
    )
    if (outcome?.kind !== 'created') return
    payment.reference = outcome.intent.reference
    payment.processorPaymentId = outcome.intent.processorPaymentId ?? undefined
  } catch (error) {
    if (!isUnanswered(error))
      throw new Error(`${customer.reference} buys ${item}`, { cause: error })
  }
}

/** Opens the payment of an unpaid invoice, as on the checkout's page. A repeated request returns the same payment. */
async function openDebt({ world, shop, customer, known }: StoryContext, slot: Slot): Promise<void> {
  const { providerId, productRef } = shop
  const fields = { customerRef: customer.reference, productRef }
  try {
    const opened = await world.act(async (service) => {
      const operation = service.operation(providerId)
      const rows = service.parts.database.of(providerId).in(environment)
      const [invoiceRef] = await rows.read((sql) => listDebts(sql, providerId, fields))
      const isHere = await rows.read((sql) => findCustomer(sql, providerId, customer.reference))
      if (invoiceRef === undefined || isHere === undefined) return undefined
      return openInvoicePayment(service.parts, operation, isHere, invoiceRef)
    })
    if (opened?.kind !== 'open') return
    const { reference, processorPaymentId } = opened.intent
    known.set(slot, {
      item: undefined,
      reference,
      processorPaymentId: processorPaymentId ?? undefined,
    })
  } catch (error) {
    if (!isUnanswered(error)) throw error
  }
}

function requestOf({ shop, customer }: StoryContext, slot: Slot, item: Item): PaymentRequest {
  const nothing = {
    productRef: undefined,
    planRef: undefined,
    amountMinor: undefined,
    recharge: undefined,
  }
  const request = {
    ...nothing,
    customer,
    currency: 'USD',
    description: undefined,
    checkoutSessionId: undefined,
    keepsCard: false,
    idempotencyKey: `${customer.reference}:${slot}`,
  }
  switch (item) {
    case 'gold':
    case 'silver':
    case 'metered':
    case 'combined': {
      const planRef = shop.planRefs[item]
      const plan = { productRef: shop.productRef, planRef, keepsCard: true }
      return { ...request, purpose: 'product', ...plan }
    }
    case 'credits':
      return { ...request, purpose: 'credit_topup', amountMinor: 1_000n }
    case 'credits that refill': {
      const recharge = {
        status: 'pending_setup',
        thresholdMinor: 500n,
        thresholdCurrency: 'USD',
        topupMinor: 2_000n,
        topupCurrency: 'USD',
        monthlySpendMaxMinor: 6_000n,
      } as const
      return { ...request, purpose: 'credit_topup', amountMinor: 1_000n, recharge }
    }
  }
}

/** Confirms the payment in the customer's browser. */
async function pay({ world, known }: StoryContext, slot: Slot, card: string): Promise<void> {
  const paymentId = known.get(slot)?.processorPaymentId
  if (paymentId === undefined) return
  const fields = { payment_method: card, return_url: 'https://shop.example/back' }
  const { url } = world.simulator.simulator
  const path = `payment_intents/${paymentId}/confirm`
  await callProcessor(url, 'POST', path, fields).catch(() => undefined)
}

async function stateCountry(context: StoryContext, slot: Slot, country: string): Promise<void> {
  const { shop, customer } = context
  const told = { isBusiness: false, customerCountry: country }
  return withPayment(context, slot, (service, reference) => {
    const operation = service.operation(shop.providerId)
    const fields = { reference, customerRef: customer.reference }
    return taxPayment(service.parts, operation, fields, told, 0)
  })
}

async function withPayment(
  { world, known }: StoryContext,
  slot: Slot,
  body: (service: CrashingService, reference: string) => Promise<unknown>,
): Promise<void> {
  const reference = known.get(slot)?.reference
  if (reference === undefined) return
  try {
    await world.act((service) => body(service, reference))
  } catch (error) {
    if (!isUnanswered(error)) throw error
  }
}

const usedMicros = 60_000_000_000n

/** Records usage of a prepaid plan. It debits at most the balance. */
async function useCredits({ world, shop, customer }: StoryContext): Promise<void> {
  const { usageLog: log, hotState } = world.stores
  const fields = { providerId: shop.providerId, customerRef: customer.reference }
  const usageRef = `usage_${randomUUID()}`
  const due = { ...fields, environment, usageRef, dueMicros: usedMicros, isKeyed: false } as const
  try {
    const { heldMicros } = await holdUsageCredits({ log, hotState }, due, walletLimits)
    if (heldMicros === 0n) return
    const used = { id: usageRef, productRef: shop.productRef, micros: 0n, debitMicros: heldMicros }
    await log.record({ ...fields, ...used, at: world.now })
  } catch (error) {
    // The process that had to publish the wallet died.
    if (!(error instanceof UsageBehindError)) throw error
  }
}

async function recordUsage(
  { world, shop, customer }: StoryContext,
  units: number,
  lateDays: number,
) {
  const at = new Date(world.now.getTime() - lateDays * 86_400_000)
  const { providerId, productRef } = shop
  const fields = { providerId, productRef, customerRef: customer.reference }
  await world.stores.usageLog.record({ ...fields, micros: BigInt(units) * 1_000_000n, at })
}

/** Delivers the pending events in the given order, then the rest, each the given number of times. */
export async function deliverWebhooks(
  { world }: StoryContext,
  order: readonly number[],
  copies: number,
): Promise<void> {
  await world.collectWebhooks()
  const mail = world.webhooks.splice(0)
  const drawn = order.flatMap((place) => mail.splice(place % Math.max(mail.length, 1), 1))
  for (const event of [...drawn, ...mail]) {
    for (let copy = 0; copy < copies; copy++) {
      // An event that the process did not acknowledge before its crash is delivered again.
      await world.actUntilDone((service) => service.receive(event))
    }
  }
}

/** Drops the pending events permanently. */
async function loseWebhooks({ world }: StoryContext): Promise<void> {
  await world.collectWebhooks()
  world.webhooks.length = 0
}
