import { usageByHourTable } from './migrations/0002-usage-by-hour.ts'
import {
  usageByDay,
  usageByDimension,
  usageByMeter,
  usageByPurchase,
} from './migrations/0012-roll-up-tables.ts'
import type { RollUp } from './roll-up.ts'

/** Describes the table and the view of migration 0002, which is older than these descriptions and never changes. */
const usageByHour: RollUp = {
  table: usageByHourTable,
  keys: {
    provider_id: 'provider_id',
    meter_name: 'meter_name',
    customer_ref: 'customer_ref',
    product_ref: 'product_ref',
    hour: `toDateTime(toStartOfHour(timestamp), 'UTC')`,
  },
  sums: { value: 'toDecimal128(record.value, 6)', records: 'toInt64(1)' },
  join: '',
  condition: `outcome = 'success'`,
  time: 'hour',
  comparedBy: 'customer_ref',
}

/** Every roll-up that a redo of a batch compares with the records. `usage_by_day` comes before those that are compared with it. */
export const rollUps: readonly RollUp[] = [
  usageByHour,
  { ...usageByPurchase, time: 'hour', comparedBy: 'customer_ref' },
  { ...usageByDay, time: 'day', comparedBy: 'customer_ref' },
  {
    ...usageByMeter,
    ...{ time: 'hour', comparedBy: 'log_partition' },
    addsUpTo: { value: 'value', records: 'records', events: 'events', debit: 'debit' },
  },
  {
    ...usageByDimension,
    ...{ time: 'hour', comparedBy: 'log_partition' },
    addsUpTo: { value: 'dimension_value', records: 'dimension_records' },
  },
]
