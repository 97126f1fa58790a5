import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { eventLogSettings } from '@tollgate/platform/event-log/event-log-settings'
import { openEventLogForReading } from '@tollgate/platform/event-log/open-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { countsOf, type MeterEvent } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import {
  chargedMeters,
  costMicros,
  type ChargedMeter,
  type ChargedProduct,
  type ChargedUnits,
} from '../client/charged-product.ts'
import { addRecord, noChargedTotals, type ChargedTotals } from '../load/charged-totals.ts'

/** Totals in the log, without duplicates. A retry after a kill may append a record again. */
export type LogTotals = {
  /** Units and records of the product without charges. */
  readonly units: number
  readonly records: number
  /** Usage of the products with charges, by the reference of the customer. */
  readonly charged: ReadonlyMap<string, LoggedCharges>
}

export type LoggedCharges = ChargedTotals & {
  /** Records of a pre-paid customer that have no debit, and what they would have cost in 10^-6 credits. */
  readonly undebited: { records: number; dueMicros: bigint }
}

export function noLoggedCharges(): LoggedCharges {
  return { ...noChargedTotals(), undebited: { records: 0, dueMicros: 0n } }
}

export type ReadLog = () => Promise<LogTotals>

const topic = usageTopic('sandbox')
const microsPerUnit = 1_000_000
const readLimits = { recordsMax: 10_000, bytesMax: 8 * 1024 * 1024 }

/** Returns a function that reads the log directly. Each call reads the records appended since the last one. */
export function createLogReading(
  environment: Readonly<Record<string, string | undefined>>,
  dataDir: string,
  productRef: string,
  charged?: ChargedProduct,
): ReadLog {
  const settings = { ...eventLogSettings, dataDir: dataDirSetting }
  const config = readSettings(settings, { ...environment, [dataDirSetting.variable]: dataDir })
  // Its messages are expected during chaos, so they are not logged.
  const logger = createLogger('chaos', 'silent')
  const ids = new Set<string>()
  const nextOffsets = new Map<number, number>()
  const chargedTotals = new Map<string, LoggedCharges>()
  const chargedIds = new Set<string>()
  let units = 0

  const addCharged = (event: MeterEvent, product: ChargedProduct): void => {
    if (!product.productRefs.includes(event.productRef ?? '') || chargedIds.has(event.id)) return
    chargedIds.add(event.id)
    const totals = chargedTotals.get(event.customerRef) ?? noLoggedCharges()
    chargedTotals.set(event.customerRef, totals)
    const units = unitsOf(event, product)
    addRecord(totals, units, BigInt(event.debit ?? 0))
    const isPrepaid = product.customers.some((customer) => {
      return customer.isPrepaid && customer.customerRef === event.customerRef
    })
    if (!isPrepaid || event.debit !== null) return
    totals.undebited.records += 1
    totals.undebited.dueMicros += costMicros(units)
  }

  const readPartition = async (log: EventLog, partition: number): Promise<void> => {
    let offset = nextOffsets.get(partition) ?? (await log.oldest(topic, partition))
    for (const head = await log.head(topic, partition); offset < head;) {
      const records = await log.read(topic, partition, offset, readLimits)
      for (const { value } of records) {
        const event = decodeMeterEvent(value)
        if (charged !== undefined) addCharged(event, charged)
        if (event.productRef !== productRef || ids.has(event.id)) continue
        ids.add(event.id)
        units += event.value / microsPerUnit
      }
      const last = records.at(-1)
      if (last === undefined) throw new Error(`${topic}/${partition} ends before ${head}`)
      offset = last.offset + 1
      nextOffsets.set(partition, offset)
    }
  }
  return async () => {
    // The log is opened each time, because the writer may have created its files again.
    const use = { topics: [topic], values: meterEventValues, logger }
    const log = await openEventLogForReading(config, use)
    try {
      const partitions = log.partitionCount(topic)
      for (let partition = 0; partition < partitions; partition += 1) {
        await readPartition(log, partition)
      }
    } finally {
      await log.close()
    }
    return { units, records: ids.size, charged: chargedTotals }
  }
}

function unitsOf(event: MeterEvent, { meterNames }: ChargedProduct): ChargedUnits {
  const byName = new Map(chargedMeters.map((meter) => [meterNames[meter], meter]))
  const units: Partial<Record<ChargedMeter, number>> = {}
  for (const { meterName, value } of countsOf(event)) {
    const meter = byName.get(meterName)
    if (meter !== undefined) units[meter] = (units[meter] ?? 0) + value / microsPerUnit
  }
  return units
}
