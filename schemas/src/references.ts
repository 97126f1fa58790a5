/*
 * References identify objects to clients. Clients treat them as opaque but may check the prefix. Randomness is an argument, because
 * this workspace has none of its own.
 */

export const referencePrefixes = {
  product: 'prd_',
  plan: 'pln_',
  customer: 'cus_',
  purchase: 'pur_',
  meter: 'mtr_',
  usage: 'usage_',
  usageCorrection: 'ucr_',
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
  invoiceDecision: 'ind_',
  invoiceItem: 'ini_',
  coupon: 'cpn_',
  discount: 'dsc_',
  dispute: 'dp_',
  payout: 'po_',
  refund: 're_',
  reconciliation: 'rec_',
  provider: 'prv_',
  apiKey: 'key_',
  consoleUser: 'usr_',
  alert: 'alr_',
  email: 'eml_',
  emailSuppression: 'ems_',
  testClock: 'tc_',
  planMigration: 'mig_',
  creditSchedule: 'csh_',
} as const

type ReferenceKind = keyof typeof referencePrefixes

/**
 * Kinds whose references `newReference` creates. The other kinds encode more than their kind (usage-reference.ts,
 * reservation-reference.ts) or sort by time.
 */
export type DrawnKind = Exclude<ReferenceKind, 'usage' | 'reservation' | 'webhookEvent' | 'email'>

/** Returns `size` unpredictable bytes, like `randomBytes` of node:crypto. */
export type EntropySource = (size: number) => Uint8Array

/** There are 36^12 bodies, so the first collision is expected after two thousand million references. */
const bodyChars = 12

const upperCase = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const lowerCase = upperCase.toLowerCase()

/** Bytes from 252 on are discarded: 256 is not a multiple of 36, so some characters would otherwise be more frequent. */
const evenBelow = 252

/** Returns a new reference with 12 alphanumerics: upper case, but lower case for customers. */
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
