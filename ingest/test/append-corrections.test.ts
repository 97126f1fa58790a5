import { serviceKeyOf } from '@tollgate/domain/api-keys/service-key'
import { correctionKey, correctionRecordId } from '@tollgate/schemas/correction-records'
import {
  appendCorrectionsPath,
  type CorrectionRecord,
} from '@tollgate/schemas/http/usage-corrections'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Installation, providerId } from './installation.ts'

const secret = 'a secret that the services share, long enough'

let installation: Installation

beforeEach(async () => {
  installation = await Installation.start({ settings: { TOLLGATE_SERVICE_SECRET: secret } })
})
afterEach(() => installation.remove())

const holder = { environment: 'sandbox', providerId } as const

const record: CorrectionRecord = {
  id: correctionRecordId('sandbox', providerId, 'ucr_1', { id: 'usage_1', timestamp: 0 }),
  idempotencyKey: correctionKey('ucr_1', 'usage_1'),
  customerRef: 'user-1',
  meterName: 'requests',
  value: -5_000_000,
  // Older than usage that clients record.
  timestamp: Date.now() - 300 * 86_400_000,
  productRef: 'prd_1',
  purchaseRef: null,
  properties: '{"correction":{"reference":"ucr_1","corrects":"usage_1"}}',
  debit: '-50000000',
  eventType: null,
  dimensions: { model: 'large' },
  counts: [],
}

it('appends the signed records of a service, each once', async () => {
  const key = serviceKeyOf(secret, holder)
  const body = { records: [record] }
  const reply = await installation.post(appendCorrectionsPath, key, body)
  expect([reply.status, reply.body]).toEqual([200, { success: true, appended: 1 }])
  const again = await installation.post(appendCorrectionsPath, key, body)
  expect([again.status, again.body]).toEqual([200, { success: true, appended: 0 }])
  const events = await installation.events()
  expect(events).toEqual([
    {
      ...record,
      providerId,
      receivedAt: expect.any(Number) as number,
      outcome: 'success',
      source: 'usage-corrections',
      reservationId: null,
      traceParent: null,
    },
  ])
})

it('does not exist for keys of providers, and for keys of another secret', async () => {
  const own = await installation.createKey()
  const reply = await installation.post(appendCorrectionsPath, own, { records: [record] })
  expect([reply.status, reply.body['code']]).toEqual([404, 'route_not_found'])
  const forged = serviceKeyOf('another secret that nobody shares with us', holder)
  const refused = await installation.post(appendCorrectionsPath, forged, { records: [record] })
  expect(refused.status).toBe(401)
  expect(await installation.events()).toEqual([])
})

it('appends none of a request with a malformed record', async () => {
  const key = serviceKeyOf(secret, holder)
  const malformed = { ...record, value: 0.5 }
  const body = { records: [record, malformed] }
  const reply = await installation.post(appendCorrectionsPath, key, body)
  expect([reply.status, reply.body['code']]).toEqual([400, 'validation_failed'])
  expect(await installation.events()).toEqual([])
})
