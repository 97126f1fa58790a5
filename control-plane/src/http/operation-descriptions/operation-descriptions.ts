import { customerOperations } from './customer-operations.ts'
import { providerOperations } from './provider-operations.ts'
import { sellingOperations } from './selling-operations.ts'

/** What each operation does and what its caller must know, by operation id. Backticks mark code. */
export const operationDescriptions: Readonly<Record<string, string>> = {
  ...customerOperations,
  ...sellingOperations,
  ...providerOperations,
}
