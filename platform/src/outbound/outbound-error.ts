/** Why an address that somebody gave us did not answer. */
export type OutboundFailure = 'refused' | 'unreachable' | 'timeout' | 'too-large'

/** The message may be shown to whoever gave the address: it tells nothing of our network. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

const timeoutCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

/** In our words what the HTTP client, TLS or the operating system said. */
export function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const { code, name } = error as { code?: unknown; name?: unknown }
  if (name === 'TimeoutError' || timeoutCodes.has(code)) {
    return new OutboundError('timeout', 'The address did not answer in time', { cause: error })
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new OutboundError('too-large', 'The address answered with too much', { cause: error })
  }
  const what = typeof code === 'string' ? ` (${code})` : ''
  return new OutboundError('unreachable', `The address cannot be reached${what}`, { cause: error })
}
