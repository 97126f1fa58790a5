import type { PendingReason, UnknownReason } from '@tollgate/domain/emails/email'

/** Thrown if the email must not be handed over, because another claim exists. */
export class HandOverStoppedError extends Error {}

export type HandOver =
  | { readonly kind: 'accepted'; readonly answer: string }
  /** The server refused the address or the message for good. */
  | {
      readonly kind: 'refused'
      readonly what: 'address' | 'message'
      /** Whether the answer says that no email reaches the address. */
      readonly isBounce: boolean
      readonly answer: string | null
    }
  /** The server has certainly not accepted the email. */
  | { readonly kind: 'deferred'; readonly reason: PendingReason; readonly answer: string | null }
  /** The text was handed over, and no answer shows what became of it. */
  | { readonly kind: 'unknown'; readonly reason: UnknownReason }
  /** The email was not handed over, because another process has claimed it. */
  | { readonly kind: 'stopped' }

/** The fields that nodemailer adds to an error. */
export type SmtpError = {
  readonly code?: unknown
  readonly command?: unknown
  readonly response?: unknown
  readonly responseCode?: unknown
}

/** Reasons by the code of nodemailer. Its messages name the mail server, which is not for providers. */
const reasons: ReadonlyMap<unknown, PendingReason> = new Map([
  ['ECONNECTION', 'unreachable'],
  ['ESOCKET', 'unreachable'],
  ['EDNS', 'unreachable'],
  ['ETIMEDOUT', 'timeout'],
  ['ETLS', 'tls'],
  ['EREQUIRETLS', 'tls'],
  ['EAUTH', 'login'],
  ['ENOAUTH', 'login'],
])

/**
 * Judges the error that ended a conversation with a mail server. `hasBegun` is whether bytes of the text may have reached the
 * server. From then on, only the server's answer to the text shows that it did not accept the email.
 */
export function judgeHandOver(error: unknown, hasBegun: boolean): HandOver {
  if (error instanceof HandOverStoppedError) return { kind: 'stopped' }
  const { code, command, response, responseCode } = error as SmtpError
  const isPermanent = Number(responseCode) >= 500
  const answer = typeof response === 'string' ? response : null
  if (hasBegun) {
    const isAnswered = code === 'EMESSAGE' && Number(responseCode) >= 400
    if (!isAnswered)
      return { kind: 'unknown', reason: code === 'ETIMEDOUT' ? 'timeout' : 'cut-off' }
    return isPermanent
      ? { kind: 'refused', what: 'message', isBounce: false, answer }
      : { kind: 'deferred', reason: 'deferred', answer }
  }
  // nodemailer itself refuses a malformed address, and a message that exceeds the size that the server states.
  if (code === 'EENVELOPE' && command === 'API') {
    return { kind: 'refused', what: 'address', isBounce: false, answer: null }
  }
  if (code === 'EMESSAGE') return { kind: 'refused', what: 'message', isBounce: false, answer }
  if (code === 'EENVELOPE' && command === 'RCPT TO' && isPermanent && isAboutAddress(answer)) {
    return { kind: 'refused', what: 'address', isBounce: true, answer }
  }
  // Everything else is about the server, its configuration or this sender, so another attempt may succeed.
  const reason = reasons.get(code) ?? (answer === null ? 'error' : 'deferred')
  return { kind: 'deferred', reason, answer: reason === 'deferred' ? answer : null }
}

/**
 * Returns whether a permanent refusal of the recipient is about its address. The enhanced status code (RFC 3463) states the subject:
 * 5.1 is the address and 5.2 the mailbox. Others, such as 5.7.1 for a server that does not relay for this sender, would be the same
 * for every address. So might be a refusal without such a code, which a server that is set up wrongly also gives: were it a bounce,
 * one mistake would suppress every recipient for good.
 */
function isAboutAddress(answer: string | null): boolean {
  const code = /^5\d\d[ -]5\.(\d{1,3})\.(\d{1,3})/.exec(answer ?? '')
  if (code === null) return false
  const [, subject, detail] = code
  // 5.1.0 names no reason. 5.1.7 and 5.1.8 are about the address of the sender. 5.2.2 is a full mailbox.
  if (subject === '1') return detail !== '0' && detail !== '7' && detail !== '8'
  return subject === '2' && detail !== '2'
}
