import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oracleMatrixPrice } from '../../../domain/test/charge-oracle.ts'
import { Rational } from '../../../domain/test/pricing-oracle.ts'
import {
  dayMs,
  startDocumentedBusiness,
  type Body,
  type DocumentedBusiness,
} from './documented-business.ts'

/*
 * docs/businesses/chat.md: every command of the page, and what it says about prices and limits. What the wallet pays is compared with
 * the oracle of charges.
 */

let business: DocumentedBusiness

beforeAll(async () => {
  business = await startDocumentedBusiness('chat.md', startMs)
})
afterAll(() => business.stop())

const weekMs = 7 * dayMs
const now = Date.now()
/** 1970 began on a Thursday, and weeks begin on Monday. */
const weekLeftMs = weekMs - ((now + 3 * dayMs) % weekMs)
/** The test needs twelve hours of one week. */
const startMs = weekLeftMs < dayMs / 2 ? now + weekLeftMs : now
const mondayMs = weekLeftMs < dayMs / 2 ? startMs + weekMs : now + weekLeftMs

const prices = {
  input_tokens: { large: '0.03', other: '0.0025' },
  cached_tokens: { large: '0.003', other: '0.00025' },
  output_tokens: { large: '0.15', other: '0.02' },
} as const
const meters = Object.keys(prices) as (keyof typeof prices)[]

type Turn = { readonly model: string; readonly usage: Readonly<Record<string, number>> }

/** Returns the credits that a turn costs according to the table of the page. */
function costOf({ model, usage }: Turn): Rational {
  return meters.reduce((sum, meter) => {
    const price = prices[meter][model === 'large' ? 'large' : 'other']
    return sum.plus(oracleMatrixPrice([{ units: String(usage[meter] ?? 0), price }]))
  }, Rational.of(0n))
}

/** Rounds to the 10^-6 credits in which a wallet pays. */
const microsOf = (credits: Rational): bigint => credits.times(Rational.of(1_000_000n)).nearest()

const documentedTurns: Turn[] = [
  { model: 'large', usage: { input_tokens: 812, cached_tokens: 4_096, output_tokens: 377 } },
  { model: 'small', usage: { input_tokens: 90_000, output_tokens: 9_000 } },
]

async function send(turn: Turn, id: string, productref: string): Promise<Body> {
  return (await business.client.require('POST', '/v1/events', {
    specversion: '1.0',
    ...{ id, source: '/test', type: 'chat.turn', subject: 'user_1', productref, data: turn },
  })) as Body
}

/** The decimal text of the credits that a response says, in 10^-6 credits. */
function debitOf(response: Body): bigint {
  const { credits } = response['creditDebit'] as { credits: string }
  return microsOf(Rational.from(credits))
}

test('sells tokens by model from a wallet, with windows of 5 hours and a week', async () => {
  const { clock, client } = business
  await business.run('Count tokens')
  await business.run('Set the prices')
  const [, granted, activated] = await business.run('Let a customer start')
  expect(granted).toMatchObject({ balance: 50_000 })
  expect(activated).toMatchObject({ status: 'activated' })
  // Ingest reads the meters at most a second later.
  await sleep(1_200)

  const [check, first] = await business.run('Record a turn')
  expect(check).toMatchObject({
    withinLimits: true,
    limits: expect.arrayContaining([
      expect.objectContaining({ limit: 'five-hours', remaining: 100_000 }),
      expect.objectContaining({ limit: 'week', remaining: 250_000 }),
    ]) as unknown,
  })
  expect(first).toMatchObject({ creditDebit: { debited: true, credits: '93.198' } })
  const [second, blocked] = await business.run('Reach the 5-hour limit')
  expect(blocked).toMatchObject({
    withinLimits: false,
    blockedBy: { reason: 'cap', limit: 'five-hours', meterName: 'all_tokens' },
  })
  const resetsAt = Date.parse(blocked!['resetsAt'] as string)
  expect(resetsAt).toBeGreaterThanOrEqual(clock.now() + 18_000_000)
  expect(resetsAt).toBeLessThanOrEqual(clock.now() + 18_000_000 * 1.01 + 1_000)
  let paid = 0n
  for (const [at, response] of [first!, second!].entries()) {
    const cost = microsOf(costOf(documentedTurns[at]!))
    expect(debitOf(response)).toBe(cost)
    paid += cost
  }

  // The window has room again when the response said so, and the week is used up before it a second time.
  const productRef = await business.variable('PRODUCT')
  const named = { customerRef: 'user_1', productRef }
  const checkNow = () => client.require('POST', '/v1/sdk/limits', named) as Promise<Body>
  clock.set(resetsAt)
  expect(await checkNow()).toMatchObject({ withinLimits: true })
  for (const [at, model] of ['large', 'small', 'large', 'tiny'].entries()) {
    const usage = {
      input_tokens: 7_001 * (at + 1),
      cached_tokens: 13 * at,
      output_tokens: 500 + at,
    }
    const turn = { model, usage }
    const response = await send(turn, `turn ${at}`, productRef)
    expect(debitOf(response)).toBe(microsOf(costOf(turn)))
    paid += microsOf(costOf(turn))
  }
  clock.set(resetsAt + 19_000_000)
  const rest = { model: 'small', usage: { cached_tokens: 80_000 } }
  await send(rest, 'rest of the week', productRef)
  paid += microsOf(costOf(rest))
  expect(await checkNow()).toMatchObject({
    withinLimits: false,
    blockedBy: { limit: 'week' },
    resetsAt: new Date(mondayMs).toISOString(),
  })
  clock.set(mondayMs)
  expect(await checkNow()).toMatchObject({ withinLimits: true })

  const left = 50_000_000_000n - paid
  const [balance] = await business.run('Read the balance')
  expect(balance).toMatchObject({ credits: Number(left / 1_000_000n) })
})

test('refuses turns once the wallet is empty, and never debits more than it has', async () => {
  const productRef = await business.variable('PRODUCT')
  const huge = { model: 'large', usage: { output_tokens: 10_000_000 } }
  const { creditDebit } = await send(huge, 'huge', productRef)
  expect(creditDebit).toMatchObject({ debited: true, unitsRemaining: 0 })
  const [balance] = await business.run('Read the balance')
  expect(balance).toMatchObject({ credits: 0 })
  business.clock.set(mondayMs + weekMs)
  const named = { customerRef: 'user_1', productRef }
  expect(await business.client.require('POST', '/v1/sdk/limits', named)).toMatchObject({
    withinLimits: false,
    blockedBy: { reason: 'credits' },
  })
})
