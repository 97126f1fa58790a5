import { errors } from 'undici'

/** Why a request to a provider's URL failed. */
export type OutboundFailure =
  /** The address is not allowed. */
  | 'refused'
  /** The name has no address. */
  | 'unresolved'
  | 'unreachable'
  /** The certificate is not trusted, or the server does not speak TLS. */
  | 'tls'
  | 'timeout'
  /** The server closed the connection before the response was complete. */
  | 'cut-off'
  | 'too-large'
  /** The response is not HTTP. */
  | 'malformed'

/** The message may be shown to the provider that configured the URL: it reveals nothing of our network. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

const failures: readonly [codes: RegExp, failure: OutboundFailure, message: string][] = [
  [
    /^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/,
    'timeout',
    'The address did not answer in time',
  ],
  [
    /^UND_ERR_(RES_EXCEEDED_MAX_SIZE|HEADERS_OVERFLOW)$/,
    'too-large',
    'The address answered with too much',
  ],
  [
    /CERT|^UNABLE_TO_|^ERR_(TLS|SSL|OSSL)_|^EPROTO$/,
    'tls',
    'The address has no certificate that is valid for it, or speaks no TLS',
  ],
  [
    /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/,
    'cut-off',
    'The address closed the connection before its answer was whole',
  ],
  [
    /^(EPARSE|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    'malformed',
    'What the address answered is not HTTP/1.1',
  ],
]

/** Converts an error of the HTTP client, TLS or the operating system. */
export function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const code = codeOf(error)
  for (const [codes, failure, message] of failures) {
    if (codes.test(code)) {
      return new OutboundError(failure, `${message} (${code})`, { cause: error })
    }
  }
  const what = code === '' ? '' : ` (${code})`
  return new OutboundError('unreachable', `The address cannot be reached${what}`, { cause: error })
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  if (name === 'TimeoutError') return 'ETIMEDOUT'
  if (error instanceof errors.HTTPParserError) return 'EPARSE'
  return typeof code === 'string' ? code : ''
}
