import { setUpCard } from '@tollgate/domain/settlement/set-up-card'
import { payOnSession } from '@tollgate/domain/charging/pay-on-session'
import { createPayment } from '@tollgate/domain/charging/create-payment'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import { awaitPayment } from '@tollgate/domain/settlement/await-payment'
import { activatePlan } from '@tollgate/domain/billing/activate-plan'
import { cancelPurchase } from '@tollgate/domain/purchases/cancel-purchase'
import { reactivatePurchase } from '@tollgate/domain/purchases/reactivate-purchase'
import { callProcessor } from '../../../stripe-simulator/test/at-processor.ts'
import { environment } from '../money/environment.ts'
import type { PlanName } from './market.ts'
import { playAsProvider } from './play-as-provider.ts'
import { changePurchase, commit, type Player } from './player.ts'
import type { Step } from './step.ts'
import { useAdmitted } from './use-admitted.ts'

/** Plays a step. The service may refuse it. The checks of the sequence decide whether the result is correct. */
export async function playStep(player: Player, step: Step): Promise<void> {
  player.steps.push({ at: player.world.now, do: step.do })
  switch (step.do) {
    case 'activate':
      return activate(player, step.plan)
    case 'buy':
      return buy(player, step)
    case 'top up':
      return pay(player, 'pm_card_visa', { purpose: 'credit_topup', amountMinor: 1_000n })
    case 'save card':
      return saveCard(player, step.card)
    case 'pay debt':
      return payDebt(player)
    case 'cancel':
      return changePurchase(player, (work, reference) => cancelPurchase(work, reference, null))
    case 'reactivate':
      return changePurchase(player, reactivatePurchase)
    case 'use':
      return useAdmitted(player, step.unitsMax)
    case 'refund':
    case 'dispute':
    case 'close disputes':
      return playAtProcessor(player, step)
    default:
      return playAsProvider(player, step)
  }
}

function activate(player: Player, plan: PlanName): Promise<void> {
  const { customer, market } = player
  const { productRef, planRefs } = market
  const request = { customer, productRef, planRef: planRefs[plan], cycleMode: 'calendar' } as const
  return commit(player, (work) => activatePlan(work, { ...request, seller: { name: 'Acme' } }))
}

function buy(
  player: Player,
  { plan, card, coupon }: Extract<Step, { readonly do: 'buy' }>,
): Promise<void> {
  const { productRef, planRefs, couponRefs } = player.market
  const fields = {
    purpose: 'product',
    productRef,
    planRef: planRefs[plan],
    couponRef: coupon && couponRefs[coupon],
    keepsCard: true,
  } as const
  return pay(player, card, fields)
}

/** Confirms the payment in the customer's browser and waits for its final state. */
async function pay(player: Player, card: string, of: Partial<PaymentRequest>): Promise<void> {
  const { world, market, customer } = player
  const request: PaymentRequest = {
    customer,
    purpose: 'product',
    productRef: undefined,
    planRef: undefined,
    amountMinor: undefined,
    currency: 'USD',
    description: undefined,
    checkoutSessionId: undefined,
    keepsCard: false,
    recharge: undefined,
    idempotencyKey: `${customer.reference}:${player.asked++}`,
    ...of,
  }
  await world.act(async (service) => {
    const operation = service.operation(market.providerId)
    const outcome = await createPayment(service.parts, operation, request)
    if (outcome.kind !== 'created') return
    const { reference, processorPaymentId } = outcome.intent
    if (processorPaymentId === null) return
    await confirm(player, `payment_intents/${processorPaymentId}/confirm`, card)
    player.paymentIds.push(processorPaymentId)
    await awaitPayment(service.parts, operation, reference, 0)
  })
}

async function saveCard(player: Player, card: string): Promise<void> {
  const { world, market, customer } = player
  await world.act(async (service) => {
    const operation = service.operation(market.providerId)
    const attempt = String(player.asked++)
    const { setupIntentId } = await setUpCard(service.parts, operation, customer, attempt)
    await confirm(player, `setup_intents/${setupIntentId}/confirm`, card)
  })
}

async function confirm({ world }: Player, path: string, card: string): Promise<void> {
  const fields = { payment_method: card, return_url: 'https://shop.example/back' }
  await callProcessor(world.simulator.simulator.url, 'POST', path, fields)
}

async function payDebt({ world, market, customer }: Player): Promise<void> {
  const sql = world.stores.postgres.database.in(environment)
  const open = await sql<{ reference: string }[]>`
    select reference from invoices where provider_id = ${market.providerId}
      and customer_ref = ${customer.reference} and status = 'open' order by created_at`
  for (const { reference } of open) {
    await world.act((service) => {
      const operation = service.operation(market.providerId)
      return payOnSession(service.parts, operation, reference, () => 'https://shop.example/back')
    })
  }
}

type AtProcessor = Extract<Step, { readonly do: 'refund' | 'dispute' | 'close disputes' }>

/** Plays a step at the processor, which refuses it if it does not fit the payment's state. */
async function playAtProcessor(player: Player, step: AtProcessor): Promise<void> {
  const { simulator } = player.world
  const { url } = simulator.simulator
  if (step.do === 'close disputes') {
    const closed = player.paymentIds.map(async (paymentId) => {
      const { body } = await callProcessor(url, 'GET', `disputes?payment_intent=${paymentId}`)
      for (const { id } of (body as { data?: { id: string }[] }).data ?? []) {
        await simulator.admin(`disputes/${id}/close`, { ending: step.ending }).catch(ignoreRefusal)
      }
    })
    await Promise.all(closed)
    return
  }
  const paymentId = player.paymentIds.at(-1 - step.payment)
  if (paymentId === undefined) return
  if (step.do === 'refund') {
    const part = step.isPart ? { amount: '300' } : {}
    await callProcessor(url, 'POST', 'refunds', { payment_intent: paymentId, ...part })
    return
  }
  const { body } = await callProcessor(url, 'GET', `payment_intents/${paymentId}`)
  const { latest_charge: chargeId, status } = body as { latest_charge: string; status: string }
  if (status !== 'succeeded') return
  await simulator.admin(`charges/${chargeId}/dispute`, {}).catch(ignoreRefusal)
}

function ignoreRefusal(): undefined {
  return undefined
}
