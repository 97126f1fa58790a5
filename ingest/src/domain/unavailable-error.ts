import type { ErrorCode } from '@tollgate/schemas/http/error-codes'

export type UnavailableCode = Extract<ErrorCode, 'unavailable' | 'overloaded' | 'reservations_full'>

/** A resource that the request needs is unavailable now. Nothing of the request was stored, and the client should retry. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  readonly code: UnavailableCode

  constructor(message: string, { code = 'unavailable', ...options }: Options = {}) {
    super(message, options)
    this.code = code
  }
}

type Options = ErrorOptions & { readonly code?: UnavailableCode }
