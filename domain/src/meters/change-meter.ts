import type { MeterReading } from '@tollgate/schemas/meter-reading'
import { isDeepStrictEqual } from 'node:util'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { plansBrokenBy } from './charged-by.ts'
import { readingFault } from './create-meter.ts'
import {
  lockMeter,
  updateMeter,
  type Meter,
  type MeterReads,
  type MeterStatus,
} from './repository.ts'

/** Absent fields stay unchanged. The name of a meter never changes, because stored usage contains it. */
export type MeterChange = {
  readonly displayName?: string | undefined
  readonly description?: string | undefined
  readonly unit?: string | undefined
  readonly status?: MeterStatus | undefined
  /** Returns what a meter that reads events reads from now on. It is called with what the meter reads now, and its name. */
  readonly changeReading?: ((reading: MeterReading, meterName: string) => MeterReading) | undefined
}

export type ChangeMeterOutcome =
  | { readonly kind: 'meter'; readonly meter: Meter }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'permanent'; readonly meter: Meter }
  /** The meter counts the calls that name it and cannot begin to read events. */
  | { readonly kind: 'reads-no-events'; readonly meter: Meter }
  | { readonly kind: 'too-many-readers'; readonly meter: Meter }
  | { readonly kind: 'too-much-read' }
  /** Plans charge or limit the meter by what it would no longer count. */
  | { readonly kind: 'charged'; readonly meter: Meter; readonly plans: readonly string[] }

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
  if (change.changeReading !== undefined && meter.reads === null) {
    return { kind: 'reads-no-events', meter }
  }
  const changed: Meter = {
    ...meter,
    displayName: change.displayName ?? meter.displayName,
    description: change.description ?? meter.description,
    unit: change.unit ?? meter.unit,
    status: change.status ?? meter.status,
    reads: meter.reads && readsAfter(meter.reads, meter.name, change, work.now),
    updatedAt: work.now,
  }
  const fault = await readingFault(work, changed)
  if (fault !== undefined) return { kind: fault, meter: changed }
  if (meter.reads !== null && changed.reads !== null) {
    const readings = [meter.reads.reading, changed.reads.reading] as const
    // Plans lock the meters that they name, so no plan is stored with the meter as it was.
    const plans = await plansBrokenBy(work.sql, work.providerId, meter.name, ...readings)
    if (plans.length > 0) return { kind: 'charged', meter, plans }
  }
  await updateMeter(work.sql, work.providerId, changed)
  await queuePublication(work, 'meters', '')
  return { kind: 'meter', meter: changed }
}

/** A change that changes nothing makes no new version. */
function readsAfter(
  reads: MeterReads,
  meterName: string,
  { changeReading }: MeterChange,
  now: Date,
): MeterReads {
  const reading = changeReading?.(reads.reading, meterName) ?? reads.reading
  if (isDeepStrictEqual(reading, reads.reading)) return reads
  return { version: reads.version + 1, since: now, reading }
}
