import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { findMeterByName, insertMeter, type Meter, type MeterAggregation } from './repository.ts'

export type NewMeter = {
  readonly name: string
  readonly displayName: string
  readonly description: string | null
  readonly aggregation: MeterAggregation
  readonly unit: string
}

/** Creates a meter. Returns undefined if the provider already has a meter of that name. */
export async function createMeter(work: UnitOfWork, fields: NewMeter): Promise<Meter | undefined> {
  const meter: Meter = {
    name: fields.name,
    displayName: fields.displayName,
    description: fields.description,
    aggregation: fields.aggregation,
    unit: fields.unit,
    reference: generateReference('meter'),
    status: 'active',
    createdAt: work.now,
    updatedAt: work.now,
  }
  const isNew = await insertMeter(work.sql, work.providerId, meter)
  if (!isNew) return undefined
  await queuePublication(work, 'meters', '')
  return meter
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
  })
  // Another transaction created the meter meanwhile. Its row is visible to the next statement.
  const meter = created ?? (await findMeterByName(work.sql, work.providerId, requestsMeterName))
  if (meter === undefined) throw new Error(`provider ${work.providerId} has no limit meter`)
  return meter
}
