import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { meterEvent } from './meter-event.ts'

const at = (text: string): number => Date.parse(text)
const tool = (name: string) => ({
  properties: JSON.stringify({ metadata: { toolName: name } }),
})
/** Usage of two providers in two months, of which one record has dimensions and one a debit. */
export const events: readonly MeterEvent[] = [
  { customerRef: 'ada', value: 1_500_000, ...tool('search') },
  {
    customerRef: 'ada',
    value: 2_000_000,
    timestamp: at('2026-03-02T10:00:00Z'),
    debit: '2000000',
    productRef: 'prd_1',
    ...tool('search'),
  },
  { customerRef: 'bob', value: 250_000, outcome: 'paywall' as const, ...tool('fetch') },
  { customerRef: 'bob', value: 1, outcome: 'fail' as const, ...tool('fetch') },
  {
    customerRef: 'cyd',
    value: 3_000_001,
    timestamp: at('2026-03-31T23:59:59.999Z'),
    dimensions: { model: 'large', region: 'eu' },
  },
  { customerRef: 'cyd', value: 7_000_000, timestamp: at('2026-04-01T00:00:00Z') },
  { customerRef: 'ada', value: 9_000_000, providerId: 'prov_2' },
].map((fields, index) =>
  meterEvent({
    id: `usage_${index}`,
    timestamp: at('2026-03-01T12:00:00Z'),
    receivedAt: at('2026-04-01T00:00:10Z'),
    ...fields,
  }),
)
