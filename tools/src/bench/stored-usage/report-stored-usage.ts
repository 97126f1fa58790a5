import type { RunFile } from '@tollgate/deploy/standalone/run-file'
import { readSettings } from '@tollgate/platform/config/settings'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { MemoryWatch } from '../lag/memory-watch.ts'
import { generateRecords, generated, recordMix } from './generate-records.ts'
import { measureStoredUsage } from './measure-stored-usage.ts'
import { storedUsageText } from './stored-usage-text.ts'

export type StoredUsageReport = {
  readonly records: number
  readonly customerRecords: number
  readonly totalsRange: number
  readonly repeats: number
}

const requestTimeoutMs = 600_000

/** Fills ClickHouse with generated records, and measures queries of the customer with most of them. */
export async function reportStoredUsage(
  { environment, processes }: Pick<RunFile, 'environment' | 'processes'>,
  options: StoredUsageReport,
  print: (line: string) => void,
): Promise<void> {
  const settings = readSettings(clickHouseSettings, environment)
  const connection = clickHouseConnection(settings, { requestTimeoutMs, connectionsMax: 2 })
  const store = createClickHouseUsageStore(connection)
  const pid = processes['chdb-gateway']
  const memory = new MemoryWatch(async () => pid)
  memory.start()
  try {
    const mix = recordMix(options.records, options.customerRecords)
    await generateRecords(store, mix, print)
    const takeMemoryMiB = () => (pid === undefined ? undefined : memory.takeMaximum().maximumMiB)
    const result = await measureStoredUsage(store, mix, options, takeMemoryMiB, print)
    const total = mix.blocks * (mix.largePerBlock + generated.partitions)
    const ofCustomer = mix.blocks * mix.largePerBlock
    print(`\n${storedUsageText(result, { total, ofCustomer })}`)
  } finally {
    memory.stop()
    await store.close()
  }
}
