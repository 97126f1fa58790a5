import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { lockMeter, updateMeter, type Meter, type MeterStatus } from './repository.ts'

/** Absent fields stay unchanged. The name of a meter never changes, because stored usage contains it. */
export type MeterChange = {
  readonly displayName?: string | undefined
  readonly description?: string | undefined
  readonly unit?: string | undefined
  readonly status?: MeterStatus | undefined
}

export type ChangeMeterOutcome =
  | { readonly kind: 'meter'; readonly meter: Meter }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'permanent'; readonly meter: Meter }

export async function changeMeter(
  work: UnitOfWork,
  reference: string,
  change: MeterChange,
): Promise<ChangeMeterOutcome> {
  const meter = await lockMeter(work.sql, work.providerId, reference)
  if (meter === undefined) return { kind: 'not-found' }
  if (change.status === 'archived' && meter.name === requestsMeterName) {
    return { kind: 'permanent', meter }
  }
  const changed: Meter = {
    ...meter,
    displayName: change.displayName ?? meter.displayName,
    description: change.description ?? meter.description,
    unit: change.unit ?? meter.unit,
    status: change.status ?? meter.status,
    updatedAt: work.now,
  }
  await updateMeter(work.sql, work.providerId, changed)
  await queuePublication(work, 'meters', '')
  return { kind: 'meter', meter: changed }
}
