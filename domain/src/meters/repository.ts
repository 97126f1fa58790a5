import type { Queryable } from '@tollgate/platform/database/database'

export type MeterStatus = 'active' | 'archived'
export type MeterAggregation = 'count' | 'sum'

export type Meter = {
  readonly reference: string
  readonly name: string
  readonly displayName: string
  readonly description: string | null
  readonly aggregation: MeterAggregation
  readonly unit: string
  readonly status: MeterStatus
  readonly createdAt: Date
  readonly updatedAt: Date
}

type MeterRow = {
  reference: string
  name: string
  display_name: string
  description: string | null
  aggregation: MeterAggregation
  unit: string
  status: MeterStatus
  created_at: Date
  updated_at: Date
}

/** Returns false if the provider already has a meter of that name. */
export async function insertMeter(
  sql: Queryable,
  providerId: string,
  meter: Meter,
): Promise<boolean> {
  const rows = await sql`
    insert into meters
      (provider_id, reference, name, display_name, description, aggregation, unit, status,
       created_at, updated_at)
    values (${providerId}, ${meter.reference}, ${meter.name}, ${meter.displayName},
      ${meter.description}, ${meter.aggregation}, ${meter.unit}, ${meter.status},
      ${meter.createdAt}, ${meter.updatedAt})
    on conflict (provider_id, name) do nothing
    returning reference`
  return rows.length === 1
}

export async function updateMeter(sql: Queryable, providerId: string, meter: Meter): Promise<void> {
  await sql`
    update meters set display_name = ${meter.displayName}, description = ${meter.description},
      unit = ${meter.unit}, status = ${meter.status}, updated_at = ${meter.updatedAt}
    where provider_id = ${providerId} and reference = ${meter.reference}`
}

export async function findMeter(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Meter | undefined> {
  const [row] = await sql<MeterRow[]>`
    select * from meters where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

export async function lockMeter(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Meter | undefined> {
  const [row] = await sql<MeterRow[]>`
    select * from meters where provider_id = ${providerId} and reference = ${reference} for update`
  return row === undefined ? undefined : fromRow(row)
}

/** Locks the meters in one order, so that two callers cannot deadlock. */
export async function lockMetersByName(
  sql: Queryable,
  providerId: string,
  names: readonly string[],
): Promise<Meter[]> {
  const rows = await sql<MeterRow[]>`
    select * from meters where provider_id = ${providerId} and name = any(${[...names]}::text[])
    order by name for update`
  return rows.map(fromRow)
}

export async function findMeterByName(
  sql: Queryable,
  providerId: string,
  name: string,
): Promise<Meter | undefined> {
  const [row] = await sql<MeterRow[]>`
    select * from meters where provider_id = ${providerId} and name = ${name}`
  return row === undefined ? undefined : fromRow(row)
}

export async function listMeters(sql: Queryable, providerId: string): Promise<Meter[]> {
  const rows = await sql<MeterRow[]>`
    select * from meters where provider_id = ${providerId} order by created_at, reference`
  return rows.map(fromRow)
}

function fromRow(row: MeterRow): Meter {
  return {
    reference: row.reference,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    aggregation: row.aggregation,
    unit: row.unit,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
