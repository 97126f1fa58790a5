import { correctionOperations } from './correction-operations.ts'
import { creditScheduleOperations } from './credit-schedule-operations.ts'
import { customerOperations } from './customer-operations.ts'
import { planMigrationOperations } from './plan-migration-operations.ts'
import { providerOperations } from './provider-operations.ts'
import { sellingOperations } from './selling-operations.ts'
import { testClockOperations } from './test-clock-operations.ts'

/** Descriptions for callers, by operation id. Backticks mark code. */
export const operationDescriptions: Readonly<Record<string, string>> = {
  ...customerOperations,
  ...sellingOperations,
  ...providerOperations,
  ...correctionOperations,
  ...creditScheduleOperations,
  ...testClockOperations,
  ...planMigrationOperations,
}
