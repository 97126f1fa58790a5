import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oracleChargePrice, oracleMatrixPrice } from '../../../domain/test/charge-oracle.ts'
import {
  billedMonthMs,
  startDocumentedBusiness,
  type Body,
  type DocumentedBusiness,
} from './documented-business.ts'

/*
 * docs/businesses/images.md: every command of the page, then many jobs at once whose holds compete for the rest of the month. The
 * invoice is compared with the oracle of charges.
 */

let business: DocumentedBusiness

beforeAll(async () => {
  business = await startDocumentedBusiness('images.md', startMs)
})
afterAll(() => business.stop())

const startMs = Date.now()
const cap = 300
const heldSeconds = 20

test('holds what a job may use, and bills what it used', async () => {
  const { client } = business
  await business.run('Count images and seconds')
  await business.run('Set the prices')
  const [, activated] = await business.run('Let a customer start')
  expect(activated).toMatchObject({ status: 'activated' })
  // Ingest reads the meters at most a second later.
  await sleep(1_200)

  const [held, refused, done] = await business.run('Run a job')
  expect(held).toMatchObject({ withinLimits: true, reservation: { units: 120 } })
  expect(refused).toMatchObject({
    withinLimits: false,
    blockedBy: { reason: 'cap', limit: 'gpu_seconds', meterName: 'gpu_seconds' },
  })
  // The order of the counts is not part of the contract.
  const { counts } = done as { counts: { meterName: string; value: number }[] }
  expect(Object.fromEntries(counts.map(({ meterName, value }) => [meterName, value]))).toEqual({
    gpu_seconds: 37.25,
    images: 3,
  })
  const [released, rest] = await business.run('Give a failed job back')
  expect(released).toMatchObject({ success: true })
  expect(rest).toMatchObject({ withinLimits: true, remaining: cap - 37.25 })

  const jobs = await runJobs(await business.variable('PRODUCT'))
  // The holds in flight never exceed the cap, and use all of it but less than one hold.
  expect(jobs.started).toHaveLength(Math.floor((cap - 37.25) / heldSeconds))
  const large = jobs.started.filter(({ size }) => size === 'large').length
  const cents = [
    oracleMatrixPrice([
      { units: String(3 + large), price: '5' },
      { units: String(jobs.started.length - large), price: '2' },
    ]),
    oracleChargePrice(
      { model: 'per_unit', price: '0.15', cap: String(cap) },
      { used: (37.25 + jobs.seconds).toFixed(2), carriedOver: '0', before: '0' },
    ),
  ].map((price) => Number(price.nearest()))
  const invoice = await business.invoiceAt(startMs + billedMonthMs)
  expect(invoice).toMatchObject({
    total: cents[0]! + cents[1]!,
    lines: cents.map((amount) => ({ amount })),
  })
  expect(await client.require('POST', '/v1/sdk/limits', named())).toMatchObject({
    withinLimits: true,
  })
})

let productRef: string
const named = () => ({ customerRef: 'user_1', productRef, meterName: 'gpu_seconds' })

type Job = { readonly size: string; readonly seconds: number }

/** Starts 40 jobs at once. Those that got a hold use less than they held, and end. */
async function runJobs(
  product: string,
): Promise<{ readonly started: readonly Job[]; readonly seconds: number }> {
  productRef = product
  const { client } = business
  const estimate = { gpu_seconds: heldSeconds, images: 1 }
  const holds = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const reserve = { estimate, ttlSeconds: 600 }
      const { customerRef } = named()
      const body = { customerRef, productRef, reserve }
      return (await client.require('POST', '/v1/sdk/limits', body)) as Body
    }),
  )
  const admitted = holds.filter(({ withinLimits }) => withinLimits)
  const started = admitted.map((_, at) => ({
    size: at % 3 === 0 ? 'large' : 'small',
    seconds: 3 + at / 4,
  }))
  await Promise.all(
    started.map(({ size, seconds }, at) =>
      client.require('POST', '/v1/events', {
        specversion: '1.0',
        ...{ id: `job ${at}`, source: '/test', type: 'image.job', subject: 'user_1' },
        productref: productRef,
        reservationid: (admitted[at]!['reservation'] as { id: string }).id,
        data: { size, images: 1, gpuSeconds: seconds },
      }),
    ),
  )
  return { started, seconds: started.reduce((sum, { seconds }) => sum + seconds, 0) }
}
