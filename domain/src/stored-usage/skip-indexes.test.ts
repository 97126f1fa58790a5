import { UsageStoreStatementError } from '@tollgate/platform/usage-store/usage-store'
import { expect, it } from 'vitest'
import { sumStoredUsageByWindow } from './query-stored-usage.ts'

it('sums usage on a ClickHouse server that does not know the exact mode of skip indexes', async () => {
  const statements: string[] = []
  const store = {
    query: async <Row>(statement: string): Promise<Row[]> => {
      statements.push(statement)
      if (statement.includes('exact_mode')) {
        throw new UsageStoreStatementError('Unknown setting', 115, 'UNKNOWN_SETTING')
      }
      return [{ micros: ['1500000'] }] as Row[]
    },
  }
  const query = {
    environment: 'sandbox',
    providerId: 'prv_1',
    customerRefs: ['cus_1'],
    productRef: 'prd_a',
    meterName: 'requests',
  } as const
  const window = { fromSecond: 0, toSecond: 3_600 }
  const parts = [{ partition: 0, beforeOffset: 1 }]
  expect(await sumStoredUsageByWindow(store, query, [window], parts)).toEqual([1_500_000n])
  expect(statements).toHaveLength(2)
})
