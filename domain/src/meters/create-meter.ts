import type { MeterReading } from '@tollgate/schemas/meter-reading'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { metersPerEventTypeMax } from '@tollgate/schemas/limits'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { countReaders, findMeterByName, insertMeter, type Meter } from './repository.ts'

export type NewMeter = Omit<Meter, 'reference' | 'status' | 'reads' | 'createdAt' | 'updatedAt'> & {
  /** Null for a meter that counts the calls that name it. */
  readonly reading: MeterReading | null
}

export type CreateMeterOutcome =
  | { readonly kind: 'meter'; readonly meter: Meter }
  /** The provider already has a meter of that name. */
  | { readonly kind: 'name-taken' }
  /** Too many active meters read events of the type. */
  | { readonly kind: 'too-many-readers' }

export async function createMeter(
  work: UnitOfWork,
  { reading, ...fields }: NewMeter,
): Promise<CreateMeterOutcome> {
  const meter: Meter = {
    ...fields,
    reference: generateReference('meter'),
    status: 'active',
    reads: reading === null ? null : { version: 1, since: work.now, reading },
    createdAt: work.now,
    updatedAt: work.now,
  }
  if (!(await mayRead(work, meter))) return { kind: 'too-many-readers' }
  const isNew = await insertMeter(work.sql, work.providerId, meter)
  if (!isNew) return { kind: 'name-taken' }
  await queuePublication(work, 'meters', '')
  return { kind: 'meter', meter }
}

/** Returns whether the meter may be active with what it reads: each meter that reads an event is a row of the stored record. */
export async function mayRead(
  { sql, providerId }: UnitOfWork,
  { reference, status, reads }: Meter,
): Promise<boolean> {
  if (reads === null || status !== 'active') return true
  const others = await countReaders(sql, providerId, reads.reading.type, reference)
  return others < metersPerEventTypeMax
}

/** Creates the meter on which limits are counted, unless the provider has it. */
export async function ensureLimitMeter(work: UnitOfWork): Promise<Meter> {
  const existing = await findMeterByName(work.sql, work.providerId, requestsMeterName)
  if (existing !== undefined) return existing
  const created = await createMeter(work, {
    name: requestsMeterName,
    displayName: 'Requests',
    description: null,
    aggregation: 'count',
    unit: 'requests',
    reading: null,
  })
  if (created.kind === 'meter') return created.meter
  // Another transaction created the meter meanwhile. Its row is visible to the next statement.
  const meter = await findMeterByName(work.sql, work.providerId, requestsMeterName)
  if (meter === undefined) throw new Error(`provider ${work.providerId} has no limit meter`)
  return meter
}
