import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { eventLogSettings } from '@tollgate/platform/event-log/event-log-settings'
import { openEventLogForReading } from '@tollgate/platform/event-log/open-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'

/** Totals of one product in the log, without duplicates. A retry after a kill may append a record again. */
export type LogTotals = { readonly units: number; readonly records: number }

export type ReadLog = () => Promise<LogTotals>

const topic = usageTopic('sandbox')
const microsPerUnit = 1_000_000
const readLimits = { recordsMax: 10_000, bytesMax: 8 * 1024 * 1024 }

/** Returns a function that reads the log directly. Each call reads the records appended since the last one. */
export function createLogReading(
  environment: Readonly<Record<string, string | undefined>>,
  dataDir: string,
  productRef: string,
): ReadLog {
  const settings = { ...eventLogSettings, dataDir: dataDirSetting }
  const config = readSettings(settings, { ...environment, [dataDirSetting.variable]: dataDir })
  // Its messages are expected during chaos, so they are not logged.
  const logger = createLogger('chaos', 'silent')
  const ids = new Set<string>()
  const nextOffsets = new Map<number, number>()
  let units = 0

  const readPartition = async (log: EventLog, partition: number): Promise<void> => {
    let offset = nextOffsets.get(partition) ?? (await log.oldest(topic, partition))
    for (const head = await log.head(topic, partition); offset < head;) {
      const records = await log.read(topic, partition, offset, readLimits)
      for (const { value } of records) {
        const event = decodeMeterEvent(value)
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
    return { units, records: ids.size }
  }
}
