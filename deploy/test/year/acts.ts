import type { Desk } from './desk.ts'
import { dayMs } from './model/calendar.ts'
import type { ModelInvoice } from './model/invoices.ts'
import { cancel, reactivate } from './model/purchase.ts'
import type { ModelPurchase } from './model/records.ts'
import type { Person, Receipt } from './person.ts'
import type { Random } from './random.ts'

/** Performs an act. Returns whether it changed anything. */
type Act = (random: Random, person: Person, desk: Desk) => Promise<boolean>

/** The random acts of people, with their probability in percent. */
const acts: Readonly<Record<string, readonly [percent: number, act: Act]>> = {
  'takes a plan': [28, takePlan],
  cancels: [
    11,
    onRandomPurchase((person, purchase) => person.cancel(purchase, cancel(purchase, person.now))),
  ],
  reactivates: [
    11,
    onRandomPurchase((person, purchase) =>
      person.reactivate(purchase, reactivate(purchase, person.now)),
    ),
  ],
  'changes the card': [7, changeCard],
  'is granted credits': [4, grantCredits],
  'tops up': [6, topUp],
  'enables automatic top-up': [3, setRecharge],
  'checks its limits': [5, checkLimit],
  'uses something': [18, recordUsage],
  'reports late usage': [4, recordLateUsage],
  'is refunded a plan': [3, refundPlan],
  'is refunded a renewal': [3, refundInvoice],
  'is refunded credits': [3, refundCredits],
  'disputes a payment': [2, disputeReceipt],
  'disputes a renewal': [1, disputeInvoice],
  'wins a dispute': [1, (_random, _person, desk) => desk.closeDispute('lost')],
  'loses a dispute': [1, (_random, _person, desk) => desk.closeDispute('won')],
  'stops paying': [0.3, stopPaying],
  'is deleted': [0.3, deleteCustomer],
}

const percentTotal = Object.values(acts).reduce((sum, [percent]) => sum + percent, 0)

export const actNames = Object.keys(acts)

/** Performs a random act. Returns its name if it changed anything. */
export async function performRandomAct(
  random: Random,
  person: Person,
  desk: Desk,
): Promise<string | undefined> {
  const isBehind = person.model.purchases.some(({ status }) => status === 'past_due')
  // Customers with unpaid invoices change their card more often than they do anything else.
  if (isBehind && random.happens(60)) {
    await person.changeCard('pays')
    return 'changes the card'
  }
  let drawn = random.between(1, Math.round(percentTotal * 1_000)) / 1_000
  for (const [name, [percent, act]] of Object.entries(acts)) {
    drawn -= percent
    if (drawn <= 0) return (await act(random, person, desk)) ? name : undefined
  }
  return undefined
}

/** Acts on the latest purchase of a random product, in any status. */
function onRandomPurchase(act: (person: Person, purchase: ModelPurchase) => Promise<void>): Act {
  return async (random, person) => {
    const named = [...new Set(person.model.purchases.map(({ productRef }) => productRef))]
    if (named.length === 0) return false
    await act(person, person.model.latest(random.pick(named))!)
    return true
  }
}

async function takePlan(random: Random, person: Person): Promise<boolean> {
  const offer = random.pick(Object.values(person.offers).flat())
  const { plan, productRef } = offer
  const isHeld = person.model.activePurchase(productRef, person.now)?.plan === plan
  if (plan.trialDays !== undefined && random.happens(70)) {
    await person.startTrial(offer)
    return true
  }
  const hasNoCard = plan.usage !== undefined && person.model.charge() !== 'paid'
  if (hasNoCard && random.happens(80)) await person.changeCard('pays')
  const needsPayment = person.model.needsPayment(productRef, plan, person.now)
  const isRefused = isHeld || person.model.owes(productRef)
  if (isRefused || !needsPayment || random.happens(8)) await person.activate(offer)
  else await person.buy(offer, random.happens(88) ? 'pays' : 'declines')
  return true
}

async function changeCard(random: Random, person: Person): Promise<boolean> {
  await person.changeCard(random.happens(70) ? 'pays' : 'declines')
  return true
}

async function topUp(random: Random, person: Person): Promise<boolean> {
  await person.topUp(BigInt(random.between(100, 5_000)))
  return true
}

async function setRecharge(random: Random, person: Person): Promise<boolean> {
  if (person.model.charge() === 'no card') return false
  const threshold = BigInt(random.between(100, 2_000))
  const topUp = threshold + BigInt(random.between(0, 2_000))
  const cap = random.happens(50) ? topUp * BigInt(random.between(1, 3)) : undefined
  await person.setRecharge({ threshold, topUp, cap })
  return true
}

async function refundPlan(random: Random, person: Person, desk: Desk): Promise<boolean> {
  return refundReceipt(random, person, desk, ({ purchase }) => purchase !== undefined)
}

async function refundCredits(random: Random, person: Person, desk: Desk): Promise<boolean> {
  return refundReceipt(random, person, desk, ({ sale }) => sale !== undefined)
}

async function refundReceipt(
  random: Random,
  person: Person,
  desk: Desk,
  isWanted: (receipt: Receipt) => boolean,
): Promise<boolean> {
  const receipts = person.receipts.filter(
    (receipt) => isWanted(receipt) && isRefundable(receipt.invoice),
  )
  if (receipts.length === 0) return false
  const receipt = random.pick(receipts)
  await desk.refundReceipt(person, receipt, drawPart(random, refundableAmount(receipt.invoice)))
  return true
}

async function refundInvoice(random: Random, person: Person, desk: Desk): Promise<boolean> {
  const paid = paidInvoices(person)
  if (paid.length === 0) return false
  const { purchase, invoice } = random.pick(paid)
  await desk.refundInvoice(person, purchase, invoice, drawPart(random, refundableAmount(invoice)))
  return true
}

async function disputeReceipt(random: Random, person: Person, desk: Desk): Promise<boolean> {
  const receipts = person.receipts.filter(
    ({ invoice }) => isRefundable(invoice) && invoice.refunded === 0n,
  )
  if (receipts.length === 0) return false
  await desk.disputeReceipt(person, random.pick(receipts))
  return true
}

async function disputeInvoice(random: Random, person: Person, desk: Desk): Promise<boolean> {
  const paid = paidInvoices(person).filter(({ invoice }) => invoice.refunded === 0n)
  if (paid.length === 0) return false
  const { purchase, invoice } = random.pick(paid)
  await desk.disputeInvoice(person, purchase, invoice)
  return true
}

type PaidInvoice = { readonly purchase: ModelPurchase; readonly invoice: ModelInvoice }

function paidInvoices({ model }: Person): PaidInvoice[] {
  return model.purchases.flatMap((purchase) =>
    purchase.invoices
      .filter((invoice) => !invoice.isSale && isRefundable(invoice))
      .map((invoice) => ({ purchase, invoice })),
  )
}

function isRefundable(invoice: ModelInvoice): boolean {
  return refundableAmount(invoice) > 0n && !invoice.isDisputed
}

function refundableAmount({ paid, refunded }: ModelInvoice): bigint {
  return paid - refunded
}

/** Returns the whole amount in 60 percent of cases, otherwise a random part. */
function drawPart(random: Random, left: bigint): bigint {
  return random.happens(60) ? left : BigInt(random.between(1, Number(left)))
}

async function deleteCustomer(_random: Random, person: Person): Promise<boolean> {
  await person.delete()
  return true
}

/** Replaces the card by one that is always declined, and never acts again. */
async function stopPaying(_random: Random, person: Person): Promise<boolean> {
  if (person.model.charge() === 'no card') return false
  await person.changeCard('declines')
  person.hasStoppedPaying = true
  return true
}

/** Grants credits, some of which expire at the end of a later day. */
async function grantCredits(random: Random, person: Person): Promise<boolean> {
  const credits = random.between(1, 20_000)
  const priority = random.between(-1, 1)
  const today = person.now - (person.now % dayMs)
  const expiresAt = today + random.between(1, 60) * dayMs - 1_000
  await person.grant(credits, random.happens(40) ? { priority } : { priority, expiresAt })
  return true
}

async function checkLimit(random: Random, person: Person): Promise<boolean> {
  await person.checkLimit(random.pick(Object.values(person.offers).flat()).productRef)
  return true
}

/** Records usage now and at past times, like backends that were offline. */
async function recordUsage(random: Random, person: Person): Promise<boolean> {
  const { now, model, offers } = person
  const held = Object.values(offers)
    .map(([offer]) => model.activePurchase(offer!.productRef, now))
    .filter((purchase) => purchase !== undefined)
  if (held.length === 0) return false
  const { productRef, startedAt, plan } = random.pick(held)
  const oldest = Math.max(startedAt + 1_000, now - 29 * dayMs)
  const before = (): number =>
    oldest >= now ? now : oldest + random.between(0, Math.floor((now - oldest) / 1_000)) * 1_000
  const uses = Array.from({ length: random.between(1, 30) }, () => ({
    at: random.happens(80) ? now : before(),
    units: random.between(0, plan.usage === undefined ? 20 : 400),
  }))
  await person.use(productRef, uses)
  return true
}

/** Records usage of an ended plan while it is still accepted. */
async function recordLateUsage(random: Random, person: Person): Promise<boolean> {
  const { now, model } = person
  const ended = model.purchases.flatMap(({ productRef, plan, startedAt, endedAt }) => {
    const from = Math.max(startedAt + 1_000, now - 29 * dayMs)
    const until = (endedAt ?? 0) - 1_000
    return plan.usage !== undefined && from < until ? [{ productRef, from, until }] : []
  })
  if (ended.length === 0) return false
  const { productRef, from, until } = random.pick(ended)
  const at = from + random.between(0, Math.floor((until - from) / 1_000)) * 1_000
  await person.use(productRef, [{ at, units: random.between(1, 2_000) }])
  return true
}
