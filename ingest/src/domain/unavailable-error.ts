import type { ErrorCode } from '@tollgate/schemas/http/error-codes'

export type UnavailableCode = Extract<ErrorCode, 'unavailable' | 'overloaded' | 'reservations_full'>

/** Something that the request needs cannot be had now; nothing of it was kept, and the client should try again. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  readonly code: UnavailableCode

  constructor(message: string, { code = 'unavailable', ...options }: Options = {}) {
    super(message, options)
    this.code = code
  }
}

type Options = ErrorOptions & { readonly code?: UnavailableCode }
