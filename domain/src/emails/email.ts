import type { EmailKind, EmailState } from '@tollgate/schemas/http/emails'

/** An email in the queue or its outcome. */
export type Email = {
  readonly reference: string
  readonly kind: EmailKind
  readonly eventId: string
  /** Null if the event names no customer. */
  readonly customerRef: string | null
  readonly state: EmailState
  /** Number of attempts with a known outcome. */
  readonly attempts: number
  readonly dueAt: Date
  /** The address of the last attempt. */
  readonly recipient: string | null
  /** Why the email failed, was skipped, or is sent again. */
  readonly reason: string | null
  /** The last answer of the mail server. */
  readonly answer: string | null
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

/** An email that this process may send until its lease ends. */
export type ClaimedEmail = Pick<
  Email,
  'reference' | 'kind' | 'eventId' | 'customerRef' | 'attempts' | 'createdAt'
> & {
  readonly providerId: string
  /** Number of the claim. Once a later claim exists, this one changes nothing any more. */
  readonly claim: number
  /** Part of the links in the email, the same for every attempt. */
  readonly token: string
  /** When a person last had the email sent again, otherwise the time of its event. */
  readonly wantedAt: Date
  /** Whether a person had the email sent again. */
  readonly isRequested: boolean
}

export type EmailOutcome =
  | { readonly kind: 'sent'; readonly answer: string | null }
  | { readonly kind: 'failed'; readonly reason: FailedReason; readonly answer: string | null }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason }
  | { readonly kind: 'skipped'; readonly reason: SkippedReason }
  /** The mail server has not accepted the email. It is sent again at `dueAt`. */
  | {
      readonly kind: 'pending'
      readonly reason: PendingReason
      readonly answer: string | null
      readonly dueAt: Date
    }

export type FailedReason = 'address-refused' | 'message-refused' | 'bad-address' | 'attempts'

export type UnknownReason = 'timeout' | 'cut-off' | 'interrupted'

/** Why an attempt failed, or that a person had the email sent again. */
export type PendingReason =
  'unreachable' | 'timeout' | 'tls' | 'login' | 'deferred' | 'error' | 'unprepared' | 'requested'

export type SkippedReason =
  | 'no-transport'
  | 'no-address'
  | 'suppressed'
  | 'unsubscribed'
  | 'sandbox'
  | 'not-chosen'
  | 'outdated'
  | 'no-event'

const answerCharsMax = 500

/** Returns what is stored of an answer of the mail server: its first characters in one line, without U+0000. */
export function storedAnswer(answer: string | null): string | null {
  if (answer === null) return null
  return answer
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, answerCharsMax)
    .toWellFormed()
}
