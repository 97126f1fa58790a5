import type { Admission } from './create-paywall.ts'

/** A response that is sent instead of the handler's. */
export type Refusal = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Body as JSON text. */
  readonly body: string
}

export type RefusedAdmission = Exclude<Admission, { readonly kind: 'admitted' }>

export function refusalOf(admission: RefusedAdmission): Refusal {
  switch (admission.kind) {
    case 'paywalled': {
      const { gate } = admission
      return refusal(402, { success: false, statusCode: 402, error: 'PaywallError', ...gate })
    }
    case 'unknown_customer':
      return plain(
        403,
        'Forbidden',
        'This account is not set up for billing. Contact the provider.',
      )
    case 'unavailable': {
      const message = 'Plan limits cannot be checked now. Try again in a few seconds.'
      return plain(503, 'Service Unavailable', message, { 'retry-after': '1' })
    }
  }
}

export const noCustomerRefusal = plain(
  401,
  'Unauthorized',
  'The request names no customer. Sign in first.',
)

function plain(status: number, error: string, message: string, headers = {}): Refusal {
  return refusal(status, { statusCode: status, error, message }, headers)
}

function refusal(status: number, body: object, headers = {}): Refusal {
  const type = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(body) }
}
