import { usageByHourTable } from './migrations/0002-usage-by-hour.ts'
import { usageByDimension, usageByPurchase } from './migrations/0010-console-roll-ups.ts'
import { hourOfRecord, type RollUp } from './roll-up.ts'

/** Describes the table and the view of migration 0002, which is older than these descriptions and never changes. */
const usageByHour: RollUp = {
  table: usageByHourTable,
  keys: {
    provider_id: 'provider_id',
    meter_name: 'meter_name',
    customer_ref: 'customer_ref',
    product_ref: 'product_ref',
    hour: hourOfRecord,
  },
  amounts: { value: 'toDecimal128(value, 6)', records: 'toInt64(1)' },
  join: '',
  condition: `outcome = 'success'`,
  comparedBy: 'customer_ref',
}

/** Every roll-up that a redo of a batch compares with the records. */
export const rollUps: readonly RollUp[] = [usageByHour, usageByPurchase, usageByDimension]
