/*
 * References name our objects to clients, who treat them as opaque but do look at the prefix. Randomness comes in as
 * an argument: this workspace has none of its own.
 */

export const referencePrefixes = {
  product: 'prd_',
  plan: 'pln_',
  customer: 'cus_',
  purchase: 'pur_',
  meter: 'mtr_',
  usage: 'usage_',
  reservation: 'rsv_',
  mcpServer: 'mcp_',
  webhookEvent: 'evt_',
  webhookEndpoint: 'we_',
  webhookSigningSecret: 'whs_',
  webhookReplay: 'wr_',
  webhookDelivery: 'dlv_',
  webhookSecret: 'whsec_',
  paymentIntent: 'pi_',
  checkoutSession: 'cs_',
  transaction: 'txn_',
  invoice: 'inv_',
  creditNote: 'crn_',
  dispute: 'dp_',
  payout: 'po_',
  refund: 're_',
  reconciliation: 'rec_',
  provider: 'prv_',
  apiKey: 'key_',
  consoleUser: 'usr_',
} as const

type ReferenceKind = keyof typeof referencePrefixes

/** Drawn by `newReference`; the others tell more than their kind (usage-reference.ts, reservation-reference.ts), or sort by time. */
export type DrawnKind = Exclude<ReferenceKind, 'usage' | 'reservation' | 'webhookEvent'>

/** Gives that many unpredictable bytes: `randomBytes` of node:crypto. */
export type EntropySource = (size: number) => Uint8Array

/** 36^12 bodies: the first chance collision is expected after two thousand million references. */
const bodyChars = 12

const upperCase = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const lowerCase = upperCase.toLowerCase()

/** Bytes from here on are thrown away, since 256 is no multiple of 36 and some characters would come up more often. */
const evenBelow = 252

/** A new reference of 12 upper-case alphanumerics; lower-case for customers. */
export function newReference(kind: DrawnKind, entropy: EntropySource): string {
  const alphabet = kind === 'customer' ? lowerCase : upperCase
  let body = ''
  while (body.length < bodyChars) {
    for (const byte of entropy(bodyChars * 2)) {
      if (byte < evenBelow && body.length < bodyChars) body += alphabet[byte % alphabet.length]!
    }
  }
  return referencePrefixes[kind] + body
}
