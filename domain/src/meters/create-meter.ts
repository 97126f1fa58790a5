import type { MeterReading } from '@tollgate/schemas/meter-reading'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import {
  meterReadingsCharsMax,
  metersPerEventTypeMax,
  readingMetersMax,
} from '@tollgate/schemas/limits'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findMeterByName, insertMeter, sumReaders, type Meter } from './repository.ts'

export type NewMeter = Omit<Meter, 'reference' | 'status' | 'reads' | 'createdAt' | 'updatedAt'> & {
  /** Null for a meter that counts the calls that name it. */
  readonly reading: MeterReading | null
}

export type CreateMeterOutcome =
  | { readonly kind: 'meter'; readonly meter: Meter }
  /** The provider already has a meter of that name. */
  | { readonly kind: 'name-taken' }
  | { readonly kind: ReadingFault }

/**
 * `too-many-readers`: too many active meters read events of the type. `too-much-read`: what all active meters read is more than
 * ingest can load.
 */
export type ReadingFault = 'too-many-readers' | 'too-much-read'

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
  const fault = await readingFault(work, meter)
  if (fault !== undefined) return { kind: fault }
  const isNew = await insertMeter(work.sql, work.providerId, meter)
  if (!isNew) return { kind: 'name-taken' }
  await queuePublication(work, 'meters', '')
  return { kind: 'meter', meter }
}

/**
 * Returns why the meter may not be active with what it reads. Each meter that reads an event is a row of the stored record, and
 * ingest loads what all meters of a provider read as one document.
 */
export async function readingFault(
  { sql, providerId }: UnitOfWork,
  { reference, status, reads }: Meter,
): Promise<ReadingFault | undefined> {
  if (reads === null || status !== 'active') return undefined
  const others = await sumReaders(sql, providerId, reads.reading.type, reference)
  if (others.ofType >= metersPerEventTypeMax) return 'too-many-readers'
  const chars = others.chars + JSON.stringify(reads.reading).length
  return others.total >= readingMetersMax || chars > meterReadingsCharsMax
    ? 'too-much-read'
    : undefined
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
