import { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { expect, it } from 'vitest'
import { entitlement, productRef } from '../../test/entitled-customer.ts'
import type { PlacedEvent } from '../domain/placed-event.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import { createIngestCounts } from '../metrics.ts'
import { DebitDecider } from './debit-decider.ts'

const holder = { providerId: 'prv_1', environment: 'sandbox' } as const
const nowMs = Date.UTC(2026, 0, 15)
const placed = {
  event: { outcome: 'success', meterName: 'requests', productRef, customerRef: 'user-1' },
  subject: '5:prv_1user-1',
  partition: 0,
} as PlacedEvent
const document = JSON.stringify({ ...entitlement, credit: { creditsPerUnit: 5, currency: 'USD' } })

it('rejects instead of throwing if a wallet that paid before cannot be read', async () => {
  let read = (): string => document
  const decider = new DebitDecider({
    hotState: {
      cachedEntryDocument: () => read(),
      readEntryDocument: () => read(),
      readDocument: () => Promise.resolve(undefined),
      incarnation: () => Promise.resolve(undefined),
    } as never,
    documents: new EntitlementDocuments(10),
    counts: createIngestCounts(createMetrics('test')),
    nowMs: () => nowMs,
    payersMax: 10,
  })
  expect(decider.decide(holder, placed)).toMatchObject({ decision: { kind: 'due' } })
  read = () => {
    throw new Error('hot state is gone')
  }
  await expect(decider.decide(holder, placed)).rejects.toThrow(UnavailableError)
})
