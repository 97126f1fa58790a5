import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { eventLogSettings } from '@tollgate/platform/event-log/event-log-settings'
import { openEventLogForReading } from '@tollgate/platform/event-log/open-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'

/** What the log has of one product, each record once: a retry after a kill may be appended again. */
export type LogTotals = { readonly units: number; readonly records: number }

export type ReadLog = () => Promise<LogTotals>

const topic = usageTopic('sandbox')
const microsPerUnit = 1_000_000
const readLimits = { recordsMax: 10_000, bytesMax: 8 * 1024 * 1024 }

/** Reads the log behind the back of the services; each call reads what was appended since the last one. */
export function createLogReading(
  environment: Readonly<Record<string, string | undefined>>,
  dataDir: string,
  productRef: string,
): ReadLog {
  const settings = { ...eventLogSettings, dataDir: dataDirSetting }
  const config = readSettings(settings, { ...environment, [dataDirSetting.variable]: dataDir })
  // What it has to say is part of the chaos.
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
    // Opened each time: the writer may have made its files anew since.
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
