import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { findMeterByName, insertMeter, type Meter } from './repository.ts'

export type NewMeter = Omit<Meter, 'reference' | 'status' | 'createdAt' | 'updatedAt'>

/** Creates a meter. Returns undefined if the provider already has a meter of that name. */
export async function createMeter(work: UnitOfWork, fields: NewMeter): Promise<Meter | undefined> {
  const meter: Meter = {
    ...fields,
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
