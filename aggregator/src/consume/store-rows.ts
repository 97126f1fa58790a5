import type { DecodedBatch } from '../domain/decoded-batch.ts'
import { rowsOf, unreadableColumns, usageColumns } from '../domain/usage-rows.ts'
import type { SinkParts } from './sink-parts.ts'

/** Inserts rows, and through views the rows of other tables, unless ClickHouse knows the token. */
export async function storeRows(
  { usageStore, environment, partition }: SinkParts,
  { events, unreadable }: DecodedBatch,
  token: string,
): Promise<void> {
  if (unreadable.length > 0) {
    const table = `${environment}.unreadable_records`
    await usageStore.insert(table, unreadableColumns(partition), unreadable, token)
  }
  if (events.length > 0) {
    const table = `${environment}.usage_records`
    await usageStore.insert(table, usageColumns(partition), rowsOf(events), token)
  }
}
