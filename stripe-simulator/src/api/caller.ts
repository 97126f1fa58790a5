import { StripeApiError, unauthorized } from '../errors.ts'
import type { Mode } from '../store/records.ts'

export type Caller = { readonly mode: Mode; readonly isBrowser: boolean }

/** Returns the caller of an API key. Any well-formed key is valid, because the simulated account contains nothing confidential. */
export function callerOf(authorization: string | undefined, formKey: unknown): Caller {
  const key = keyFrom(authorization) ?? (typeof formKey === 'string' ? formKey : undefined)
  if (key === undefined) {
    throw unauthorized(
      'You did not provide an API key, as in Authorization: Bearer YOUR_SECRET_KEY.',
    )
  }
  const found = /^(sk|rk|pk)_(test|live)_\w+$/.exec(key)
  if (found === null) throw unauthorized(`Invalid API Key provided: ${key.slice(0, 8)}…`)
  return { mode: found[2] as Mode, isBrowser: found[1] === 'pk' }
}

/** Checks a request of a browser, which only has the publishable key and the client secret of one intent. */
export function requireClientSecret(
  isForBrowsers: boolean,
  expected: string | undefined,
  given: unknown,
): void {
  if (!isForBrowsers) {
    throw new StripeApiError(
      403,
      {
        type: 'invalid_request_error',
        code: 'secret_key_required',
        message: 'This API call cannot be made with a publishable API key.',
      },
      false,
    )
  }
  if (expected !== undefined && expected !== given) {
    throw unauthorized('The client_secret provided does not match.')
  }
}

function keyFrom(authorization: string | undefined): string | undefined {
  const [scheme = '', value] = (authorization ?? '').split(' ')
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic' || value === undefined) return undefined
  return Buffer.from(value, 'base64').toString().split(':')[0]
}
