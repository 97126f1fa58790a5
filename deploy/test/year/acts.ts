import { dayMs } from './model/calendar.ts'
import { cancel, reactivate, refund } from './model/purchase.ts'
import type { ModelPurchase } from './model/records.ts'
import type { Person } from './person.ts'
import type { Random } from './random.ts'

/** What people do, by chance: as often in a hundred as it says there. */
type Act = readonly [percent: number, act: (random: Random, person: Person) => Promise<void>]

const acts: readonly Act[] = [
  [30, take],
  [12, ofPurchase((person, purchase) => person.cancel(purchase, cancel(purchase, person.now)))],
  [
    12,
    ofPurchase((person, purchase) => person.reactivate(purchase, reactivate(purchase, person.now))),
  ],
  [7, changeCard],
  [4, payBack],
  [5, grant],
  [5, (random, person) => person.topUp(random.between(100, 5_000))],
  [5, look],
  [20, use],
]

const percentTotal = acts.reduce((sum, [percent]) => sum + percent, 0)

export async function actByChance(random: Random, person: Person): Promise<void> {
  let drawn = random.between(1, percentTotal)
  for (const [percent, act] of acts) {
    drawn -= percent
    if (drawn <= 0) return act(random, person)
  }
}

/** On the latest purchase of some product, in whatever state it is. */
function ofPurchase(act: (person: Person, purchase: ModelPurchase) => Promise<void>): Act[1] {
  return async (random, person) => {
    const named = [...new Set(person.model.purchases.map(({ productRef }) => productRef))]
    if (named.length === 0) return
    await act(person, person.model.latest(random.pick(named))!)
  }
}

async function take(random: Random, person: Person): Promise<void> {
  const offer = random.pick(Object.values(person.offers).flat())
  const { plan, productRef } = offer
  const isHeld = person.model.held(productRef, person.now)?.plan === plan
  if (plan.trialDays !== undefined && random.happens(70)) return person.try(offer)
  if (plan.usage !== undefined && person.model.charge() !== 'paid') await person.changeCard('pays')
  const needsPayment = plan.price > 0
  if (isHeld || !needsPayment || random.happens(8)) return person.activate(offer)
  await person.buy(offer, random.happens(88) ? 'pays' : 'declines')
}

/** Whoever pays for usage does so: what comes of usage that is not paid is another story. */
async function changeCard(random: Random, person: Person): Promise<void> {
  const pays = hasUsage(person) || random.happens(70)
  await person.changeCard(pays ? 'pays' : 'declines')
}

function hasUsage({ model }: Person): boolean {
  return model.purchases.some(({ plan }) => plan.usage !== undefined)
}

async function payBack(random: Random, person: Person): Promise<void> {
  const receipts = person.receipts.filter(
    ({ cents, refundedCents, purchase }) => purchase !== undefined && refundedCents < cents,
  )
  if (receipts.length === 0) return
  const receipt = random.pick(receipts)
  const left = receipt.cents - receipt.refundedCents
  await person.refund(receipt, random.happens(60) ? left : random.between(1, left))
  if (receipt.refundedCents === receipt.cents) refund(receipt.purchase!, person.now)
}

/** Some of them expire at the end of a day to come. */
async function grant(random: Random, person: Person): Promise<void> {
  const credits = random.between(1, 20_000)
  const priority = random.between(-1, 1)
  if (random.happens(40)) return person.grant(credits, { priority })
  const today = person.now - (person.now % dayMs)
  const expiresAt = today + random.between(1, 60) * dayMs - 1_000
  await person.grant(credits, { priority, expiresAt })
}

async function look(random: Random, person: Person): Promise<void> {
  await person.checkLimit(random.pick(Object.values(person.offers).flat()).productRef)
}

/** Now, and at times that have passed, as backends tell of them that were away. */
async function use(random: Random, person: Person): Promise<void> {
  const { now, model, offers } = person
  const held = Object.values(offers)
    .map(([offer]) => model.held(offer!.productRef, now))
    .filter((purchase) => purchase !== undefined)
  if (held.length === 0) return
  const { productRef, startedAt, plan } = random.pick(held)
  const oldest = Math.max(startedAt + 1_000, now - 29 * dayMs)
  const before = (): number =>
    oldest >= now ? now : oldest + random.between(0, Math.floor((now - oldest) / 1_000)) * 1_000
  const uses = Array.from({ length: random.between(1, 30) }, () => ({
    at: random.happens(80) ? now : before(),
    units: random.between(0, plan.usage === undefined ? 20 : 400),
  }))
  await person.use(productRef, uses)
}
