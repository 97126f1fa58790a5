import type { ErrorDefinition } from './error-codes/definition.ts'
import { paymentCodes } from './error-codes/payment-codes.ts'
import { requestCodes } from './error-codes/request-codes.ts'
import { resourceCodes } from './error-codes/resource-codes.ts'

const table = { ...requestCodes, ...resourceCodes, ...paymentCodes } as const

/** The value of `code` in the body of an error. Codes are stable, because clients match them. */
export type ErrorCode = keyof typeof table

/** Every code that an operation of the API returns. */
export const errorCodes: Readonly<Record<ErrorCode, ErrorDefinition>> = table
