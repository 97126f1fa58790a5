import type { Aggregation, MeterReading } from '@tollgate/schemas/meter-reading'
import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'

export type MeterStatus = 'active' | 'archived'

export type Meter = {
  readonly reference: string
  readonly name: string
  readonly displayName: string
  readonly description: string | null
  readonly aggregation: Aggregation
  readonly unit: string
  readonly status: MeterStatus
  /** Null for a meter that counts the calls that name it. */
  readonly reads: MeterReads | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The current version of what a meter reads. */
export type MeterReads = {
  /** Starts at 1. */
  readonly version: number
  /** Events that are received from then on are counted by this version. */
  readonly since: Date
  readonly reading: MeterReading
}

type MeterRow = {
  reference: string
  name: string
  display_name: string
  description: string | null
  aggregation: Aggregation
  unit: string
  status: MeterStatus
  reading: MeterReading | null
  version: number
  version_since: Date | null
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
       reading, version, version_since, created_at, updated_at)
    values (${providerId}, ${meter.reference}, ${meter.name}, ${meter.displayName},
      ${meter.description}, ${meter.aggregation}, ${meter.unit}, ${meter.status},
      ${jsonb(sql, meter.reads?.reading ?? null)}, ${meter.reads?.version ?? 0},
      ${meter.reads?.since ?? null}, ${meter.createdAt}, ${meter.updatedAt})
    on conflict (provider_id, name) do nothing
    returning reference`
  if (rows.length === 0) return false
  await keepVersion(sql, providerId, meter)
  return true
}

/** Keeps the current version of what the meter reads. Versions never change, so a kept one stays as it is. */
async function keepVersion(sql: Queryable, providerId: string, meter: Meter): Promise<void> {
  const { reference, reads } = meter
  if (reads === null) return
  await sql`
    insert into meter_versions (provider_id, meter_ref, version, reading, since)
    values (${providerId}, ${reference}, ${reads.version}, ${jsonb(sql, reads.reading)}, ${reads.since})
    on conflict (provider_id, meter_ref, version) do nothing`
}

export async function updateMeter(sql: Queryable, providerId: string, meter: Meter): Promise<void> {
  await sql`
    update meters set display_name = ${meter.displayName}, description = ${meter.description},
      unit = ${meter.unit}, status = ${meter.status}, updated_at = ${meter.updatedAt},
      reading = ${jsonb(sql, meter.reads?.reading ?? null)}, version = ${meter.reads?.version ?? 0},
      version_since = ${meter.reads?.since ?? null}
    where provider_id = ${providerId} and reference = ${meter.reference}`
  await keepVersion(sql, providerId, meter)
}

/** What the active meters other than `reference` read. */
export async function sumReaders(
  sql: Queryable,
  providerId: string,
  type: string,
  reference: string,
): Promise<{
  /** Meters that read events of the type. */
  readonly ofType: number
  readonly total: number
  /** Characters of what they read as JSON text. */
  readonly chars: number
}> {
  const [row] = await sql<{ ofType: number; total: number; chars: number }[]>`
    select count(*) filter (where reading->>'type' = ${type})::integer as "ofType",
      count(*)::integer as total, coalesce(sum(length(reading::text)), 0)::integer as chars
    from meters
    where provider_id = ${providerId} and status = 'active' and reading is not null
      and reference <> ${reference}`
  return row!
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
    reads: readsOf(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function readsOf({ reading, version, version_since: since }: MeterRow): MeterReads | null {
  return reading === null || since === null ? null : { version, since, reading }
}
