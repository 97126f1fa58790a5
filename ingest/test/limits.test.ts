import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  countUsage,
  offer,
  periodEndSecond,
  placeOf,
  productRef,
  publishEntitlement,
} from './entitled-customer.ts'
import { Installation } from './installation.ts'

const limits = '/v1/sdk/limits'
const usages = '/v1/sdk/usages'
const fallbacksMax = 3

describe('limit checks', () => {
  let nowMs: number
  let installation: Installation
  let key: string
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 15)
    installation = await Installation.start({
      clock: { now: () => nowMs },
      settings: {
        TOLLGATE_LIMITS_WAIT_MS: '100',
        TOLLGATE_TAIL_RECORDS_MAX: '50',
        TOLLGATE_LIMIT_FALLBACKS_MAX: String(fallbacksMax),
      },
    })
    key = await installation.createKey()
    installation.controlPlane = (request, response) => {
      request.resume()
      response.writeHead(200).end('{"from":"control plane"}')
    }
  })
  afterEach(() => installation.remove())

  const publish = (changes?: Partial<Entitlement>) => publishEntitlement(installation, changes)
  const project = () => countUsage(installation)

  const check = (customerRef = 'user-1', more: object = {}) =>
    installation.post(limits, key, { customerRef, productRef, ...more })

  const use = (customerRef = 'user-1', units = 1) =>
    installation.post(usages, key, { customerRef, productRef, units })

  it('are forwarded with key and body while nothing is published', async () => {
    const seen: unknown[] = []
    installation.controlPlane = (request, response) => {
      request.on('data', (data: Buffer) => seen.push(JSON.parse(data.toString())))
      request.on('end', () => {
        seen.push(request.headers.authorization, request.url)
        response.writeHead(404).end('{"statusCode":404}')
      })
    }
    const reply = await check()
    expect([reply.status, reply.body]).toEqual([404, { statusCode: 404 }])
    expect(seen).toEqual([
      { customerRef: 'user-1', productRef, includeCheckoutSession: false },
      `Bearer ${key}`,
      limits,
    ])
  })

  it('are forwarded if they request a checkout session or no period includes the current time', async () => {
    await publish()
    const passedOn = { status: 200, body: { from: 'control plane' } }
    expect(await check('user-1', { includeCheckoutSession: true })).toMatchObject(passedOn)
    nowMs = periodEndSecond * 1000 - 1
    expect((await check()).body['withinLimits']).toBe(true)
    nowMs = periodEndSecond * 1000
    expect(await check()).toMatchObject(passedOn)
  })

  it('include all acknowledged usage once it is counted, under any reference of the customer', async () => {
    await publish()
    expect((await check()).body).toEqual({
      withinLimits: true,
      remaining: 10,
      plan: 'pln_1',
      meterName: 'requests',
    })
    await Promise.all([use('user-1', 3), use('cus_1', 4)])
    await project()
    expect((await check('cus_1')).body['remaining']).toBe(3)
    expect((await check('user-1')).body['remaining']).toBe(3)
  })

  it('wait for the counters projection', async () => {
    await publish()
    await use()
    const checked = check()
    await new Promise((resolve) => setTimeout(resolve, 30))
    await project()
    expect((await checked).body['remaining']).toBe(9)
  })

  it('add the tail of the log if the counters projection makes no progress', async () => {
    await publish()
    await Promise.all(Array.from({ length: 7 }, () => use()))
    expect((await check()).body['remaining']).toBe(3)
    await use('other', 5)
    expect((await check()).body['remaining']).toBe(3)
  })

  const useMoreThanTheTail = async (): Promise<void> => {
    const events = Array.from({ length: 60 }, () => ({ customerRef: 'user-1', productRef }))
    await installation.post('/v1/sdk/usages/bulk', key, { events })
  }

  it('are forwarded if the tail is longer than the bound', async () => {
    await publish()
    await useMoreThanTheTail()
    expect((await check()).body).toEqual({ from: 'control plane' })
    expect(await installation.metric('tollgate_ingest_limit_fallbacks_total', 'behind')).toBe(1)
  })

  it('are forwarded if the published documents cannot be read', async () => {
    const at = { space: 'sandbox', ...placeOf('user-1'), scope: productRef }
    await installation.hotState.putEntry(at, { version: 1, document: 'torn', windows: [] })
    expect((await check()).body).toEqual({ from: 'control plane' })
    expect(await installation.metric('tollgate_ingest_limit_fallbacks_total', 'unreadable')).toBe(1)
  })

  it('are forwarded up to a bounded number at a time', async () => {
    await publish()
    await useMoreThanTheTail()
    const waiting: (() => void)[] = []
    installation.controlPlane = (request, response) => {
      request.resume()
      waiting.push(() => response.writeHead(200).end('{}'))
    }
    const checks = Array.from({ length: fallbacksMax }, () => check())
    await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(fallbacksMax)
    const oneMore = await check()
    expect([oneMore.status, oneMore.headers.get('retry-after')]).toEqual([503, '1'])
    for (const answer of waiting) answer()
    expect((await Promise.all(checks)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('are denied with an offer when the cap is reached', async () => {
    await publish()
    await use('user-1', 10)
    await project()
    expect((await check()).body).toEqual({
      withinLimits: false,
      remaining: 0,
      plan: 'pln_1',
      meterName: 'requests',
      ...offer,
    })
  })

  it('agree with the responses to usage calls about why nothing is debited', async () => {
    const reason = async () => ((await use()).body['creditDebit'] as { reason: string }).reason
    expect(await reason()).toBe('customer_not_found')
    await installation.hotState.putEntry(
      { space: 'sandbox', ...placeOf('user-1'), scope: '' },
      { version: 1, document: '{"customerRef":"cus_1"}', windows: [] },
    )
    expect(await reason()).toBe('no_active_purchase')
    await publish()
    expect(await reason()).toBe('plan_not_credit_based')
    nowMs = periodEndSecond * 1000
    expect(await reason()).toBe('no_active_purchase')
  })
})
