import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { NewCorrection } from '@tollgate/domain/usage-corrections/correction'

type Filter = Partial<Extract<NewCorrection['selection'], { kind: 'filter' }>>

/** Returns a correction that takes away the usage of 2026, as far as the filter selects it. */
export function correctionOf({ customerRef }: Purchase, filter: Filter): NewCorrection {
  return {
    selection: {
      kind: 'filter',
      customerRef,
      fromMs: Date.parse('2026-01-01T00:00:00Z'),
      toMs: Date.parse('2027-01-01T00:00:00Z'),
      ...{ dimensions: {}, properties: {}, ...filter },
    },
    ...{ action: 'remove', valueMicros: undefined, reason: 'wrong', author: 'Grace' },
    idempotencyKey: null,
  }
}
